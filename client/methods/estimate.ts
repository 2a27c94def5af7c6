/** chain_estimateGas (docs/gas.md). Nothing of it can be verified without executing the call. */
import {quantity} from "../bytes/hex.ts";
import {fieldsOf, readQuantity} from "./answerFields.ts";
import {type Abortable, encodeBlock, type HeldBlockName} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";

type Amount = bigint | number;

export interface AccessListEntry {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

/** A signed authorization of EIP-7702. */
export interface Authorization {
  readonly chainId: Amount;
  readonly address: string;
  readonly nonce: Amount;
  readonly yParity: Amount;
  readonly r: Amount | string;
  readonly s: Amount | string;
}

/** An unsigned transaction. Every field is optional. */
export interface EstimateCall {
  readonly from?: string | undefined;
  /** Without it the call creates a contract, and `data` is its init code. */
  readonly to?: string | undefined;
  readonly value?: Amount | undefined;
  readonly gas?: Amount | undefined;
  readonly nonce?: Amount | undefined;
  readonly gasPrice?: Amount | undefined;
  readonly maxFeePerGas?: Amount | undefined;
  readonly maxPriorityFeePerGas?: Amount | undefined;
  readonly chainId?: Amount | undefined;
  /** `0x` and pairs of hex digits. */
  readonly data?: string | undefined;
  readonly type?: 0 | 1 | 2 | 4 | undefined;
  readonly accessList?: readonly AccessListEntry[] | undefined;
  readonly authorizationList?: readonly Authorization[] | undefined;
}

/** Replaces parts of the state of one account. */
export interface AccountOverride {
  readonly balance?: Amount | undefined;
  readonly nonce?: Amount | undefined;
  readonly code?: string | undefined;
  /** Replaces the whole storage: words by slot. */
  readonly state?: Readonly<Record<string, string>> | undefined;
  /** Replaces some slots. */
  readonly stateDiff?: Readonly<Record<string, string>> | undefined;
}

export interface EstimateRequest extends Abortable {
  readonly call: EstimateCall;
  /** Default: "latest". */
  readonly block?: HeldBlockName | undefined;
  /** By address. */
  readonly overrides?: Readonly<Record<string, AccountOverride>> | undefined;
}

/** The answer includes the revert bytes of a call that reverts. */
const ESTIMATE_BYTES = 1 << 20;

const readEstimate = fieldsOf({
  gasLimit: readQuantity,
  /** In wei, as the one below. */
  baseFeePerGas: readQuantity,
  priorityFeePerGas: readQuantity,
});
export type Estimate = ReturnType<typeof readEstimate>;

/** @throws RpcError, code 3 if the call reverts: then `data` has the revert bytes */
export async function estimateGas(
  caller: RpcCaller,
  {call, block = "latest", overrides, signal}: EstimateRequest,
): Promise<Estimate> {
  const params = [encodeAmounts(call), encodeBlock(block)];
  if (overrides !== undefined) params.push(encodeAmounts(overrides));
  const request = {method: "chain_estimateGas", params, maxAnswerBytes: ESTIMATE_BYTES};
  return readEstimate("estimate", await caller.call(request, signal));
}

/** Replaces numbers as JSON cannot say them by quantities. */
export function encodeAmounts(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "bigint" ? quantity(one) : one)));
}
