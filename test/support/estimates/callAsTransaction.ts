/** A call of chain_estimateGas as a transaction of @ethereumjs/tx. */
import assert from "node:assert/strict";
import type {Common} from "@ethereumjs/common";
import {
  createAccessList2930Tx,
  createEOACode7702Tx,
  createFeeMarket1559Tx,
  createLegacyTx,
  type TypedTransaction,
} from "@ethereumjs/tx";
import {Address, type PrefixedHexString} from "@ethereumjs/util";
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {splitWords} from "../../../workers/messages/estimateCall.ts";

/** Not signed. A call without a nonce has 0. */
export function createTransaction(call: EstimateCall, common: Common, gasLimit: bigint): TypedTransaction {
  const options = {common, allowUnlimitedInitCodeSize: true};
  const {type, value, data, nonce = 0n, gasPrice = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n} = call;
  const fields = {
    chainId: common.chainId(),
    nonce,
    gasLimit,
    value,
    data,
    ...(call.to === undefined ? {} : {to: new Address(call.to)}),
  };
  const hex = (bytes: Uint8Array) => encodeHex(bytes) as PrefixedHexString;
  const quantity = (value: bigint) => `0x${value.toString(16)}` as PrefixedHexString;
  const accessList = (call.accessList ?? []).map(({address, storageKeys}) => ({
    address: hex(address),
    storageKeys: splitWords(storageKeys).map(hex),
  }));
  if (type === 0) {
    const {chainId: _, ...legacy} = fields;
    return createLegacyTx({...legacy, gasPrice}, options);
  }
  if (type === 1) return createAccessList2930Tx({...fields, gasPrice, accessList}, options);
  const feeFields = {...fields, maxFeePerGas, maxPriorityFeePerGas, accessList};
  if (type === 2) return createFeeMarket1559Tx(feeFields, options);
  const authorizationList = (call.authorizationList ?? []).map(one => ({
    chainId: quantity(one.chainId),
    address: hex(one.address),
    nonce: quantity(one.nonce),
    yParity: quantity(one.yParity),
    r: quantity(one.r),
    s: quantity(one.s),
  }));
  return createEOACode7702Tx(
    {...feeFields, to: new Address(call.to ?? assert.fail()), authorizationList},
    options,
  );
}
