/**
 * chain_getMultiProof: the bytes of one proof for many accounts and slots (docs/proofs.md, section 9), in which every node stands once.
 * They come in hex, or alone if a client asks for bytes (`Accept: application/octet-stream`) in a request of one call.
 */
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {BYTES} from "../schema.ts";
import {getProof} from "./getProof.ts";
import {MULTI_PROOF_PARAMS, multiProofCost, packMultiProofCall} from "./multiProofParams.ts";
import type {ProofCalls} from "./proofCalls.ts";

const NAME = "chain_getMultiProof";

/** An answer has at most two leaves per account or key. Each takes fewer digits than a leaf of chain_getProof. */
export const getMultiProof: LaneMethod<ProofCalls> = {
  ...getProof,
  name: NAME,
  summary: "One proof for many accounts and slots at a finalized block. Every node stands in it once.",
  params: new ParamList(NAME, MULTI_PROOF_PARAMS),
  result: {name: "multiProof", schema: BYTES},
  cost: multiProofCost,
  prepare(params, view, calls) {
    const {packed, end} = calls;
    const form = view.takesBytes ? ProofForm.MULTI_BYTES : ProofForm.MULTI_HEX;
    calls.add(packMultiProofCall(this.params.read(params), form, view, packed, end), multiProofCost(params));
    calls.isBytes = view.takesBytes;
  },
};
