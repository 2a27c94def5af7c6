/**
 * The proof of a method prefix (`proofd serve --namespace`), with the habits of that network's own server:
 *
 *   what                                               chain_getProof                      here
 *   a block that is not stored or not finalized        -32001, -32002                      -32600, in fixed words
 *   slots of an account that never had one             absence proofs of a new tree        none
 */
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {createProofMethod} from "./getProof.ts";

/** Clients of that server match the code, and some of them the text. */
const BLOCK_MISSING = "BLOCK_MISSING_IN_CHAIN - block is missing";

export function createNamespacedProof(namespace: string): LaneMethod<PackedCalls> {
  const summary = "The proof of chain_getProof, without storage proofs for an account that never had a slot.";
  const method = createProofMethod(`${namespace}_getProof`, summary, ProofForm.NO_EMPTY_STORAGE);
  return {
    ...method,
    errors: [RpcCode.INVALID_REQUEST, RpcCode.NOT_AVAILABLE],
    prepare(params, view, calls) {
      try {
        return method.prepare(params, view, calls);
      } catch (error) {
        const {code} = error as Partial<RpcError>;
        const isMissing = code === RpcCode.BLOCK_UNKNOWN || code === RpcCode.NOT_FINALIZED;
        throw isMissing ? new RpcError(RpcCode.INVALID_REQUEST, BLOCK_MISSING) : error;
      }
    },
  };
}
