/** The transaction that a call would become: the gas it pays before any code runs, and its bytes. */

import type {ForkRules} from "../../../evm/execution/rules/forkRules.ts";
import {type PaidFields, TX_GAS} from "../../../evm/execution/rules/gas.ts";
import {WORD_BYTES} from "../../../storage/hash/suite.ts";
import {encodeList, encodeNumber, type RlpItem} from "../../../storage/rlp/rlpWriter.ts";
import {type EstimateCall, splitWords, type TransactionType} from "../../messages/estimateCall.ts";

export const PLAIN_TRANSFER_GAS = BigInt(TX_GAS);

/** Wei per gas. Both are 0 if the call names no fee. */
interface CallFee {
  /** The price that is paid, and that the opcode GASPRICE returns. */
  readonly price: bigint;
  /** The highest price that could be paid. The balance must cover it. */
  readonly cap: bigint;
}

/** What the gas that it pays before it executes anything depends on. */
export function paidFieldsOf({data, to, accessList = [], authorizationList = []}: EstimateCall): PaidFields {
  const slotBytes = accessList.reduce((sum, {storageKeys}) => sum + storageKeys.length, 0);
  return {
    data,
    isCreation: to === undefined,
    listedAddresses: accessList.length,
    listedSlots: slotBytes / WORD_BYTES,
    authorizations: authorizationList.length,
  };
}

/** The fee that the call's fields give. @param baseFee - of the block, wei per gas; undefined before london */
export function feeOf(call: EstimateCall, baseFee: bigint | undefined): CallFee {
  const {gasPrice, maxFeePerGas, maxPriorityFeePerGas} = call;
  if (maxFeePerGas === undefined && maxPriorityFeePerGas === undefined)
    return {price: gasPrice ?? 0n, cap: gasPrice ?? 0n};
  const wanted = (baseFee ?? 0n) + (maxPriorityFeePerGas ?? 0n);
  const cap = maxFeePerGas ?? wanted;
  return {price: wanted < cap ? wanted : cap, cap};
}

/** The type that the call names, or else the newest type that the fork has for its fields. */
export function typeOf(call: EstimateCall, rules: ForkRules): TransactionType {
  if (call.type !== undefined) return call.type;
  if (rules.hasBaseFee) return 2;
  return call.accessList === undefined ? 0 : 1;
}

/** The EIP that introduced a transaction type, if the fork does not have it. */
export function missingEip(type: TransactionType, rules: ForkRules): number | undefined {
  if (type === 2 && !rules.hasBaseFee) return 1559;
  return type === 4 && !rules.isPrague ? 7702 : undefined;
}

/**
 * The bytes that a sender signs: `type | rlp(fields)`; for type 0 with the chain id as in EIP-155.
 * @param type - the call's own type is ignored. @param nonce - used if the call names none
 */
export function encodeUnsigned(
  call: EstimateCall,
  type: TransactionType,
  nonce: bigint,
  gasLimit: bigint,
  chainId: bigint,
): Uint8Array {
  const number = encodeNumber;
  const to = call.to ?? new Uint8Array(0);
  const ends = [number(gasLimit), to, number(call.value), call.data];
  const nonceBytes = number(call.nonce ?? nonce);
  if (type === 0) {
    const none = new Uint8Array(0);
    return encodeList([nonceBytes, number(call.gasPrice ?? 0n), ...ends, number(chainId), none, none]);
  }
  const accessList = (call.accessList ?? []).map(({address, storageKeys}) => [
    address,
    splitWords(storageKeys),
  ]);
  const prices =
    type === 1
      ? [number(call.gasPrice ?? 0n)]
      : [number(call.maxPriorityFeePerGas ?? 0n), number(call.maxFeePerGas ?? 0n)];
  const fields: RlpItem[] = [number(chainId), nonceBytes, ...prices, ...ends, accessList];
  if (type === 4) {
    fields.push(
      (call.authorizationList ?? []).map(({chainId, address, nonce, yParity, r, s}) => [
        ...[number(chainId), address],
        ...[nonce, yParity, r, s].map(number),
      ]),
    );
  }
  return Buffer.concat([Uint8Array.of(type), encodeList(fields)]);
}
