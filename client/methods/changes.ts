/** chain_getChanges: what differs between two blocks, verified unless there is no verifier. */
import {quantity} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import {ByteReader} from "../compact/byteReader.ts";
import {readComparedBlocks, verifyChanges} from "../leaves/changeRange.ts";
import {LAST_CURSOR} from "../leaves/changesReader.ts";
import {
  type Abortable,
  askNotBefore,
  type BlockName,
  callForBytes,
  encodeBlock,
  type NotBefore,
  requireAsked,
} from "./askedBlock.ts";
import {requireWhole} from "./connection.ts";
import type {ProofMethods} from "./proofMethods.ts";
import type {ProvenChanges, ServerChanges} from "./provenAnswer.ts";

/** `atLeast` applies to `toBlock`. */
export interface GetChangesParameters extends Abortable, NotBefore {
  /** "accounts", "all" for accounts and their storage, or an address for that account's storage. */
  readonly tree: string;
  /** May be above or below `toBlock`. */
  readonly fromBlock: BlockName;
  /** Default: "finalized". After the first answer, pass its `toBlock.number`. */
  readonly toBlock?: BlockName | undefined;
  /** `end` of the answer before. Default: 0n. */
  readonly cursor?: bigint | undefined;
  /** At most so many leaves, 1 to 4 096. Default: 4 096. */
  readonly count?: number | undefined;
}

const DEFAULT_COUNT = 4096;
const MAX_COUNT = 0xffff;
/** Twice the most bytes of an answer, for their hex. */
const MAX_ANSWER_BYTES = 2 * (512 * 1024 + 16_384);

/** A tag needs no call of its own: the answer names its blocks. @throws RpcError, ProofError, TypeError */
export async function getChanges(
  {caller, verifier}: ProofMethods,
  {tree, fromBlock, toBlock = "finalized", cursor = 0n, count = DEFAULT_COUNT, ...rest}: GetChangesParameters,
): Promise<ProvenChanges | ServerChanges> {
  const {signal} = rest;
  requireWhole("count", count, 1, MAX_COUNT);
  if (typeof cursor !== "bigint" || cursor < 0n || cursor >= LAST_CURSOR)
    throw new TypeError(`expected cursor to be 0n or the end of an answer, got ${shown(cursor)}`);
  const params = [
    tree,
    encodeBlock(fromBlock),
    encodeBlock(toBlock),
    quantity(cursor),
    quantity(BigInt(count)),
  ];
  const request = {method: "chain_getChanges", params, maxAnswerBytes: MAX_ANSWER_BYTES};
  const ask = async () => {
    const proof = await callForBytes(caller, request, signal);
    return {proof, blocks: readComparedBlocks(new ByteReader(proof))};
  };
  const numberOf = ({blocks: [, to]}: Awaited<ReturnType<typeof ask>>) => to.number;
  const {proof, blocks} = await askNotBefore(caller, {block: toBlock, ...rest}, ask, numberOf);
  const [{number: from}, {number: to}] = blocks;
  requireAsked("fromBlock", fromBlock, from);
  requireAsked("toBlock", toBlock, to);
  if (verifier === undefined) return {fromBlock: from, toBlock: to, proof};
  const [fromRoot, toRoot] = await Promise.all([verifier.of(from, signal), verifier.of(to, signal)]);
  const roots = {from: fromRoot, to: toRoot};
  return {...verifyChanges(verifier.suite, roots, {tree, cursor, count}, proof), proof};
}
