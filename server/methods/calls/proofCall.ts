/** proof_call: eth_call with a witness, all that executing the call read (docs/json-rpc.md). As Nethermind has it. */
import {MAX_WITNESS_TEXT_BYTES, WITNESS_COST} from "../../limits.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {arrayOf, BLOCK_PARAM, BYTES, nullable, objectOf} from "../schema.ts";
import {callCost} from "./callCost.ts";
import {CALL_PARAM} from "./callSchemas.ts";
import {ethCall, parseCall} from "./ethCall.ts";

const ERROR = objectOf({code: {type: "integer"}, message: {type: "string"}}, {data: BYTES});
const LIST = arrayOf(BYTES);
const ERROR_CODES = {
  REVERTED: RpcCode.EXECUTION_REVERTED,
  EXECUTION_FAILED: RpcCode.EXECUTION_FAILED,
};

export const proofCall: LaneMethod<PackedCalls> = {
  ...ethCall,
  name: "proof_call",
  summary:
    "What a call returns, or its error, and the trie nodes, codes and headers that executing it needs.",
  params: new ParamList([
    {name: "tx", required: true, schema: CALL_PARAM},
    {name: "blockParameter", required: false, schema: nullable(BLOCK_PARAM)},
  ]),
  result: {
    name: "outcome",
    schema: objectOf(
      {witness: objectOf({state: LIST, codes: LIST, headers: LIST})},
      {result: BYTES, error: ERROR},
    ),
  },
  // A revert is a result.
  errors: ethCall.errors.filter(code => code !== RpcCode.EXECUTION_REVERTED),
  cost(params, {estimates}) {
    return estimates.kind === "here" && Array.isArray(params) ? callCost(params, WITNESS_COST) : 0;
  },
  maxTextBytes() {
    return MAX_WITNESS_TEXT_BYTES;
  },
  *prepare(params, view, calls) {
    const call = yield* parseCall(this, params, view, "blockParameter");
    calls.putCall(Object.assign(call, {errorCodes: ERROR_CODES}), WITNESS_COST);
  },
};
