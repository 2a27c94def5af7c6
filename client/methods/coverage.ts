/** chain_getCoverage: which blocks a server has, and which of them it can prove. */

import {fieldsOf, listOf, optional, type Reader, readName, readQuantity} from "./answerFields.ts";
import type {Abortable} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";

/** What the server claims of itself. A number is undefined if there is no such block. */
export interface Coverage {
  readonly earliest: bigint | undefined;
  readonly finalized: bigint | undefined;
  readonly latest: bigint | undefined;
  /** The name of a hash suite, such as "sha256". */
  readonly suite: string;
  /** Blocks that can be proved, as `[from, to]`, newest first; not all if there are very many. */
  readonly ranges: readonly (readonly [from: bigint, to: bigint])[];
  /** How many ranges there are in all. */
  readonly rangeCount: bigint;
  /** Blocks whose state neither a header nor layer 1 commits to, as `[from, to]`. undefined: all are verified. */
  readonly unverified: readonly [from: bigint, to: bigint] | undefined;
  /**
   * The first and the last block in which an account was deleted and created again according to a node alone. The roots
   * of the server's trees depend on that from the first one on; Ethereum's state roots do not.
   */
  readonly openResets: readonly [from: bigint, to: bigint] | undefined;
}

const MAX_RANGES = 1024;
const COVERAGE_BYTES = 1 << 17;

const readRange = listOf(2, 2, readQuantity) as Reader<readonly [bigint, bigint]>;

const readCoverage = fieldsOf<Coverage>({
  earliest: optional(readQuantity),
  finalized: optional(readQuantity),
  latest: optional(readQuantity),
  suite: readName,
  ranges: listOf(0, MAX_RANGES, readRange),
  rangeCount: readQuantity,
  unverified: optional(readRange),
  openResets: optional(readRange),
});

export async function getCoverage(caller: RpcCaller, {signal}: Abortable = {}): Promise<Coverage> {
  const request = {method: "chain_getCoverage", params: [], maxAnswerBytes: COVERAGE_BYTES};
  return readCoverage("coverage", await caller.call(request, signal));
}
