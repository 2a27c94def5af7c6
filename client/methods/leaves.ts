/** chain_getLeaves: ranges of leaves, verified unless there is no verifier. */
import {quantity} from "../bytes/hex.ts";
import {type LeavesRequest, readAnsweredBlock} from "../leaves/leafRange.ts";
import type {LeavesVerifier} from "../leaves/leavesVerifier.ts";
import {LEAF_POSITIONS} from "../proof/leafProof.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import {type AskedBlock, askNotBefore} from "./askedBlock.ts";
import {type BlockName, blockNumber, encodeBlock} from "./block.ts";
import {requireWhole} from "./connection.ts";
import type {ProofMethods} from "./proofMethods.ts";
import type {ProvenLeaves, ServerLeaves} from "./provenAnswer.ts";

/** A count of leaves has two bytes in an answer. */
const MAX_COUNT = 0xffff;
/** Bytes of the leaves in one answer: a server sends no more than this. */
const MAX_RECORDS_BYTES = 512 * 1024;
/** More than a leaf takes. */
const LEAF_BYTES = 256;
/** More than the rest of an answer takes: the account's proof, and the nodes beside the range. */
const REST_BYTES = 8192;

/** A tag needs no call of its own: the answer names its block. @throws RpcError, ProofError, TypeError */
export async function getLeaves(
  {caller, verifier}: ProofMethods,
  {tree, from, count}: LeavesRequest,
  asked: AskedBlock<BlockName>,
  verifyWith: LeavesVerifier,
  signal: AbortSignal | undefined,
): Promise<ProvenLeaves | ServerLeaves> {
  requireWhole("from", from, 0, LEAF_POSITIONS - 1);
  requireWhole("count", count, 1, MAX_COUNT);
  const params = [tree, quantity(BigInt(from)), quantity(BigInt(count)), encodeBlock(asked.block)];
  const request = {
    method: "chain_getLeaves",
    params,
    takesBytes: true,
    // Twice as many, for their hex.
    maxAnswerBytes: 2 * (REST_BYTES + Math.min(count * LEAF_BYTES, MAX_RECORDS_BYTES)),
  };
  const ask = async () => {
    const result = await caller.call(request, signal);
    const proof = result instanceof Uint8Array ? result : readBytes("result", result);
    return {proof, number: readAnsweredBlock(proof).number};
  };
  const {proof, number} = await askNotBefore(asked, caller.timeoutMs, signal, ask, answer => answer.number);
  const named = blockNumber(asked.block);
  check(named === undefined || number === named, "block.number", `expected ${named}, got ${number}`);
  if (verifier === undefined) return {block: number, proof};
  return verifyWith.verify(verifier.suite, () => verifier.of(number, signal), {tree, from, count}, proof);
}
