/**
 * The parameters of chain_estimateGas: [call], [call, block], [call, block, overrides, blockOverrides] or
 * [call, overrides]. null means an omitted parameter. The default block is the newest one.
 */
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import type {Work} from "../../fairness/work.ts";
import type {Call} from "../../rpc/envelope.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {ParamList} from "../params.ts";
import {BLOCK_PARAM, nullable, objectOf, QUANTITY} from "../schema.ts";
import {type BlockView, namesLatest, resolveSelector} from "../selector.ts";
import {parseBlockOverrides} from "./blockOverrides.ts";
import {parseCallFields} from "./callFields.ts";
import {parseOverrides} from "./callOverrides.ts";
import {BLOCK_OVERRIDES_PARAM, CALL_PARAM, OVERRIDES_PARAM} from "./callSchemas.ts";

export const ESTIMATE = objectOf({
  baseFeePerGas: QUANTITY,
  gasLimit: QUANTITY,
  priorityFeePerGas: QUANTITY,
});

/** At most 75 digits, because every such number fits into 63 hex digits: 64 are a hash. */
const DECIMAL = /^[0-9]{1,75}$/;

const BLOCK_OR_OVERRIDES = {
  anyOf: [BLOCK_PARAM, {title: "block number", type: "string", pattern: DECIMAL.source}, OVERRIDES_PARAM],
};

export const ESTIMATE_PARAMS = new ParamList([
  {name: "call", required: true, schema: CALL_PARAM},
  {name: "block", required: false, schema: nullable(BLOCK_OR_OVERRIDES)},
  {name: "overrides", required: false, schema: nullable(OVERRIDES_PARAM)},
  {name: "blockOverrides", required: false, schema: nullable(BLOCK_OVERRIDES_PARAM)},
]);

/** @throws RpcError INVALID_PARAMS, BLOCK_UNKNOWN, NOT_FINALIZED */
export function* parseEstimateCall(
  name: string,
  params: Call["params"],
  view: BlockView,
): Work<EstimateCall> {
  const [call, second = null, third = null, fourth = null] = ESTIMATE_PARAMS.read({name}, params);
  if (call === null) throw ESTIMATE_PARAMS.createMissingError(0);
  const isShifted = third === null && isKeyedByAddress(second);
  const overrides = isShifted ? second : third;
  const fields = yield* parseCallFields(call, "params[0]", view.chain.chainId);
  return Object.assign(fields, {
    overrides:
      overrides === null
        ? undefined
        : yield* parseOverrides(overrides, isShifted ? "params[1]" : "params[2]"),
    blockOverrides: fourth === null ? undefined : parseBlockOverrides(fourth, "params[3]"),
    ...resolveBlock(isShifted ? null : second, view),
  });
}

/** Of a block selector, in lower case. */
const BLOCK_NAMES: ReadonlySet<string> = new Set(["blocknumber", "blockhash"]);

/** Whether the second parameter is overrides: an object that is not a block selector of EIP-1898, in whatever case. */
function isKeyedByAddress(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !Object.keys(value).some(key => BLOCK_NAMES.has(key.toLowerCase()));
}

/** Also takes a block number in decimal, which the methods for proofs refuse. */
function resolveBlock(block: unknown, view: BlockView): Pick<EstimateCall, "block" | "isLatest"> {
  const isDecimal = typeof block === "string" && DECIMAL.test(block);
  const selector = isDecimal ? encodeQuantity(BigInt(block)) : (block ?? "latest");
  return {
    block: resolveSelector(selector, "params[1] (block)", "stored", view),
    isLatest: namesLatest(selector),
  };
}
