/** chain_getLeaves: ranges of leaves, verified unless there is no verifier. */
import {quantity} from "../bytes/hex.ts";
import {ByteReader} from "../compact/byteReader.ts";
import {type LeavesVerifier, readAnsweredBlock, thisThread} from "../leaves/leafRange.ts";
import {LEAF_POSITIONS} from "../proof/leafProof.ts";
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
import type {ProvenLeaves, ServerLeaves} from "./provenAnswer.ts";

export interface GetLeavesParameters extends Abortable, NotBefore {
  /** "accounts" for the tree of all accounts, or an address for that account's storage tree. */
  readonly tree: string;
  /** The leaf index of the first leaf. Default: 0. */
  readonly from?: number | undefined;
  /** At most so many leaves, 1 to 4 096. Default: 4 096. */
  readonly count?: number | undefined;
  /** Default: "finalized". After the first range of a tree, pass its `block.number`. */
  readonly block?: BlockName | undefined;
  /** What verifies the answer. Default: this thread. `pullState` has threads of its own. */
  readonly verifyWith?: LeavesVerifier | undefined;
}

/** An answer counts its leaves in two bytes. */
const MAX_COUNT = 0xffff;
const DEFAULT_COUNT = 4096;
/** Bytes of the leaves in one answer: a server sends no more than this. */
const MAX_RECORDS_BYTES = 512 * 1024;
const LEAF_BYTES = 256;
/** More than the rest of an answer takes: the account's proof, and the nodes beside the range. */
const REST_BYTES = 8192;

/** A tag needs no call of its own: the answer names its block. @throws RpcError, ProofError, TypeError */
export async function getLeaves(
  {caller, verifier}: ProofMethods,
  {
    tree,
    from = 0,
    count = DEFAULT_COUNT,
    block = "finalized",
    verifyWith = thisThread,
    ...asked
  }: GetLeavesParameters,
): Promise<ProvenLeaves | ServerLeaves> {
  requireWhole("from", from, 0, LEAF_POSITIONS - 1);
  requireWhole("count", count, 1, MAX_COUNT);
  const params = [tree, quantity(BigInt(from)), quantity(BigInt(count)), encodeBlock(block)];
  const request = {
    method: "chain_getLeaves",
    params,
    // Twice as many, for their hex.
    maxAnswerBytes: 2 * (REST_BYTES + Math.min(count * LEAF_BYTES, MAX_RECORDS_BYTES)),
  };
  const ask = async () => {
    const proof = await callForBytes(caller, request, asked.signal);
    return {proof, number: readAnsweredBlock(new ByteReader(proof)).number};
  };
  const {proof, number} = await askNotBefore(caller, {block, ...asked}, ask, answer => answer.number);
  requireAsked("block", block, number);
  if (verifier === undefined) return {block: number, proof};
  const rootOf = () => verifier.of(number, asked.signal);
  return verifyWith.verify(verifier.suite, rootOf, {tree, from, count}, proof);
}
