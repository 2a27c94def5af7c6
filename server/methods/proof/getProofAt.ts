import {ProofForm} from "../../../workers/job/packedCall.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {BLOCK, objectOf} from "../schema.ts";
import {getProof} from "./getProof.ts";
import type {ProofCalls} from "./proofCalls.ts";
import {PROOF_PARAMS, packProofCall} from "./proofParams.ts";
import {PROOF} from "./proofSchema.ts";

const NAME = "chain_getProofAt";

/** Upper bound of the text that it adds to a proof: the block's number, hash and state root. */
const BLOCK_TEXT_BYTES = 256;

export const getProofAt: LaneMethod<ProofCalls> = {
  ...getProof,
  name: NAME,
  summary: "The result of chain_getProof, and the block that it proves.",
  params: new ParamList(NAME, PROOF_PARAMS),
  result: {name: "provenBlock", schema: objectOf({block: BLOCK, proof: PROOF})},
  maxTextBytes(cost, view) {
    return getProof.maxTextBytes(cost, view) + BLOCK_TEXT_BYTES;
  },
  prepare(params, view, calls) {
    const {packed, end} = calls;
    calls.add(
      packProofCall(
        this.params.read(params),
        ProofForm.WITH_BLOCK,
        view,
        view.limits.storageKeys,
        packed,
        end,
      ),
    );
  },
};
