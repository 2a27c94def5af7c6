/**
 * chain_getProof for a block that may not be finalized yet. The call waits until it is (dispatch/waiting/), and is a call
 * of chain_getProof then.
 */
import {packedBytes} from "../../../workers/job/packedCall.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {nullable} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {getProof} from "./getProof.ts";
import type {ProofCalls} from "./proofCalls.ts";
import {BLOCK_NAME, PROOF_PARAMS, packTarget} from "./proofParams.ts";

const NAME = "chain_waitForProof";

const MAX_TIMEOUT_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 30_000;
const TIMEOUT_AT = 3;

const TIMEOUT = {
  name: "timeoutMs",
  required: false,
  schema: nullable({title: "milliseconds", type: "integer", minimum: 0, maximum: MAX_TIMEOUT_MS}),
};

export const waitForProof: LaneMethod<ProofCalls> = {
  ...getProof,
  name: NAME,
  summary: "The result of chain_getProof, as soon as the block is finalized.",
  params: new ParamList(NAME, [...PROOF_PARAMS, TIMEOUT]),
  prepare(params, view, calls) {
    const list = this.params.read(params);
    readTimeout(list[TIMEOUT_AT]);
    getProof.prepare(list.slice(0, TIMEOUT_AT), view, calls);
  },
  waiting: {
    findBlock(params, view) {
      const {limits, head} = view;
      try {
        const list = waitForProof.params.read(params);
        const timeoutMs = readTimeout(list[TIMEOUT_AT]);
        // A call with a wrong address or key is refused now, not when its block is finalized.
        packTarget(
          list,
          limits.storageKeys,
          Buffer.allocUnsafe(packedBytes(waitForProof.cost(params, view))),
          0,
        );
        const number = resolveSelector(list[2], BLOCK_NAME, "awaited", view);
        const isProvable = head.finalized !== undefined && number <= head.finalized;
        return isProvable || timeoutMs === 0 ? undefined : {number, isByHash: isHash(list[2]), timeoutMs};
      } catch {
        return undefined; // `prepare` meets the same error
      }
    },
    pinBlock(params, block) {
      const [address, keys, selector, ...rest] = params as readonly unknown[];
      return [address, keys, isHash(selector) ? selector : encodeQuantity(block), ...rest];
    },
  },
};

function isHash(selector: unknown): boolean {
  return typeof selector === "object" && selector !== null && Object.hasOwn(selector, "blockHash");
}

/** @throws RpcError INVALID_PARAMS */
function readTimeout(value: unknown): number {
  const timeoutMs = value ?? DEFAULT_TIMEOUT_MS;
  const isWithin = Number.isInteger(timeoutMs) && (timeoutMs as number) >= 0;
  if (isWithin && (timeoutMs as number) <= MAX_TIMEOUT_MS) return timeoutMs as number;
  const rule = `a whole number of milliseconds from 0 to ${MAX_TIMEOUT_MS}`;
  throw createValueError(`params[${TIMEOUT_AT}] (timeoutMs)`, value, rule);
}
