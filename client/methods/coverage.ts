/** chain_getCoverage: which blocks a server has, and which of them it can prove. */

import {fieldsOf, listOf, optional, type Reader, readName, readQuantity} from "./answerFields.ts";
import type {Abortable} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";

const MAX_RANGES = 1024;
const COVERAGE_BYTES = 1 << 17;

const readRange = listOf(2, 2, readQuantity) as Reader<readonly [from: bigint, to: bigint]>;

const readCoverage = fieldsOf({
  earliest: optional(readQuantity),
  finalized: optional(readQuantity),
  latest: optional(readQuantity),
  /** The name of a hash suite, such as "sha256". */
  suite: readName,
  /** Blocks that can be proved, as `[from, to]`, newest first; not all if there are very many. */
  ranges: listOf(0, MAX_RANGES, readRange),
  /** How many ranges there are in all. */
  rangeCount: readQuantity,
  /** Blocks whose state neither a header nor layer 1 commits to, as `[from, to]`. undefined: all are verified. */
  unverified: optional(readRange),
  /**
   * The first and the last block in which an account was deleted and created again according to a node alone. The roots
   * of the server's trees depend on that from the first one on; Ethereum's state roots do not.
   */
  openResets: optional(readRange),
});
/** What the server claims of itself. A number is undefined if there is no such block. */
export type Coverage = ReturnType<typeof readCoverage>;

export async function getCoverage(caller: RpcCaller, {signal}: Abortable = {}): Promise<Coverage> {
  const request = {method: "chain_getCoverage", params: [], maxAnswerBytes: COVERAGE_BYTES};
  return readCoverage("coverage", await caller.call(request, signal));
}
