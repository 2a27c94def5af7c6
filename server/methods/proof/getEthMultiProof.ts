/**
 * eth_getMultiProof, as in reth: results of eth_getProof for many accounts at one block. Where a proof of absence ends
 * at an extension, the branch below it follows, because reth's sparse tries take both as one node.
 */
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {ADDRESS_PARAM, arrayOf, BLOCK_PARAM, nullable, STORAGE_KEY_PARAM} from "../schema.ts";
import {ETH_PROOF, getEthProof} from "./getEthProof.ts";
import {type EntryShape, multiProofCost, packMultiProofCall} from "./getMultiProof.ts";

export const TARGETS: EntryShape = {
  param: "params[0] (targets)",
  expected: "[address, storageKeys]",
  length: 2,
  fields: ["0", "1"],
};
const TARGET = {type: "array", items: [ADDRESS_PARAM, arrayOf(STORAGE_KEY_PARAM)], minItems: 2, maxItems: 2};

export const getEthMultiProof: LaneMethod<PackedCalls> = {
  ...getEthProof,
  name: "eth_getMultiProof",
  summary: "The results of eth_getProof for many accounts at a finalized block, as reth answers.",
  params: new ParamList([
    {name: "targets", required: true, schema: {...arrayOf(TARGET), minItems: 1}},
    {name: "block", required: false, schema: nullable(BLOCK_PARAM)},
  ]),
  result: {name: "accountProofs", schema: arrayOf(ETH_PROOF)},
  cost: params => multiProofCost(params, TARGETS),
  prepare(params, view, calls) {
    const {packed, end} = calls;
    const [targets, block] = this.params.read(this, params);
    const list = [targets, block ?? "latest"];
    const packedEnd = packMultiProofCall(list, ProofForm.ETH_MULTI, view, packed, end, TARGETS);
    calls.add(packedEnd, multiProofCost(params, TARGETS));
  },
};
