/** proof_call: eth_call with a witness, all that executing the call read (docs/json-rpc.md). As Nethermind has it. */
import {MAX_WITNESS_TEXT_BYTES, WITNESS_COST} from "../../limits.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {arrayOf, BLOCK_PARAM, BYTES, nullable, objectOf} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {callCost} from "./callCost.ts";
import {parseCallFields} from "./callFields.ts";
import {CALL_PARAM} from "./callSchemas.ts";
import type {EstimateCalls} from "./estimateCalls.ts";
import {ethCall, requireThreads} from "./ethCall.ts";

const NAME = "proof_call";
const ERROR = objectOf({code: {type: "integer"}, message: {type: "string"}}, {data: BYTES});
const LIST = arrayOf(BYTES);

export const proofCall: LaneMethod<EstimateCalls> = {
  ...ethCall,
  name: NAME,
  summary:
    "What a call returns, or its error, and the trie nodes, codes and headers that executing it needs.",
  params: new ParamList(NAME, [
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
  errors: [
    RpcCode.BLOCK_UNKNOWN, // and RULES_UNKNOWN
    RpcCode.NOT_FINALIZED,
    RpcCode.NOT_AVAILABLE,
    RpcCode.EXECUTION_FAILED,
  ],
  cost(params, {estimates}) {
    return estimates.kind === "here" && Array.isArray(params) ? callCost(params, WITNESS_COST) : 0;
  },
  maxTextBytes() {
    return MAX_WITNESS_TEXT_BYTES;
  },
  *prepare(params, view, calls) {
    requireThreads(NAME, view);
    const [call, block = null] = this.params.read(params);
    const fields = yield* parseCallFields(call, "params[0]", view.chain.chainId);
    const added = {
      kind: "call",
      method: NAME,
      errorCodes: {
        REVERTED: RpcCode.EXECUTION_REVERTED,
        EXECUTION_FAILED: RpcCode.EXECUTION_FAILED,
      },
      block: resolveSelector(block ?? "latest", "params[1] (blockParameter)", "provable", view),
    } as const;
    calls.prepared.push(Object.assign(fields, added));
  },
};
