/** chain_getProofAt: a proof and the block that it is of; with a proof of Ethereum's tries, the block's header. */
import {MAX_HEADER_BYTES, ProofForm} from "../../../workers/messages/packedCall.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {BLOCK, BYTES, nullable, objectOf} from "../schema.ts";
import {addEthCall, ETH_PROOF} from "./getEthProof.ts";
import {addCall, getProof, PROOF, PROOF_PARAMS} from "./getProof.ts";
import {namesTrie, readIsTrie, SUITE_PARAM} from "./suiteParam.ts";

const SUITE_AT = 3;
const UNVERIFIED = {unverified: {const: true}};
/** Upper bounds of what is around a proof: the block's number, hash and state root, and that it is unverified; its header. */
const BLOCK_TEXT_BYTES = 256;
const HEADER_TEXT_BYTES = 32 + 2 * MAX_HEADER_BYTES;

export const getProofAt: LaneMethod<PackedCalls> = {
  ...getProof,
  name: "chain_getProofAt",
  summary:
    "The result of chain_getProof, the block that it proves, and whether that is unverified: no header or finalization commits to its state. With the suite keccak, the result of eth_getProof and the block's header.",
  params: new ParamList([...PROOF_PARAMS, SUITE_PARAM]),
  result: {
    name: "provenBlock",
    schema: {
      oneOf: [
        objectOf({block: BLOCK, proof: PROOF}, UNVERIFIED),
        objectOf({block: BLOCK, headerRlp: nullable(BYTES), proof: ETH_PROOF}, UNVERIFIED),
      ],
    },
  },
  maxTextBytes(cost, view, params) {
    const isTrie = Array.isArray(params) && namesTrie(params[SUITE_AT], view);
    return getProof.maxTextBytes(cost, view, params) + BLOCK_TEXT_BYTES + (isTrie ? HEADER_TEXT_BYTES : 0);
  },
  prepare(params, view, calls) {
    const list = this.params.read(this, params);
    if (readIsTrie(list[SUITE_AT], SUITE_AT, view)) addEthCall(list, ProofForm.ETH_AT, view, calls);
    else addCall(list, ProofForm.WITH_BLOCK, view, calls);
  },
};
