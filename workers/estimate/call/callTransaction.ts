/**
 * The transaction that a call would become: the gas it pays before any code runs, and its bytes.
 */
import type {Common} from "@ethereumjs/common";
import {type NestedUint8Array, RLP} from "@ethereumjs/rlp";
import {bigIntToUnpaddedBytes} from "@ethereumjs/util";
import type {EstimateCall, TransactionType} from "../../job/estimateCall.ts";
import {splitWords, WORD_BYTES} from "../state/words.ts";

const TX_GAS = 21_000n;
const CREATION_GAS = 32_000n;
const ZERO_BYTE_GAS = 4n;
/** EIP-2028; before istanbul 68. */
const NONZERO_BYTE_GAS = 16n;
const OLD_NONZERO_BYTE_GAS = 68n;
/** EIP-3860. */
const INITCODE_WORD_GAS = 2n;
/** EIP-2930. */
const LISTED_ADDRESS_GAS = 2400n;
const LISTED_SLOT_GAS = 1900n;
/** EIP-7702, for a new account. authorizations.ts has the refund for an account that exists already. */
const AUTHORIZATION_GAS = 25_000n;
/** EIP-7623: a zero byte is one token, another four. */
const FLOOR_TOKEN_GAS = 10n;
const TOKENS_OF_NONZERO_BYTE = 4n;

export const PLAIN_TRANSFER_GAS = TX_GAS;

/** Wei per gas. Both are 0 if the call names no fee. */
interface CallFee {
  /** The price that is paid, and that the opcode GASPRICE returns. */
  readonly price: bigint;
  /** The highest price that could be paid. The balance must cover it. */
  readonly cap: bigint;
}

export function intrinsicGas(call: EstimateCall, common: Common): bigint {
  const {zeros, others} = countBytes(call.data);
  let gas = TX_GAS + zeros * ZERO_BYTE_GAS;
  // Not isActivatedEIP(2028): the library lists istanbul's changes only under their collective EIP and would answer no.
  gas += others * (common.gteHardfork("istanbul") ? NONZERO_BYTE_GAS : OLD_NONZERO_BYTE_GAS);
  if (call.to === undefined) {
    if (common.gteHardfork("homestead")) gas += CREATION_GAS;
    if (common.isActivatedEIP(3860))
      gas += INITCODE_WORD_GAS * BigInt(Math.ceil(call.data.length / WORD_BYTES));
  }
  for (const {storageKeys} of call.accessList ?? [])
    gas += LISTED_ADDRESS_GAS + LISTED_SLOT_GAS * BigInt(storageKeys.length / WORD_BYTES);
  return gas + AUTHORIZATION_GAS * BigInt(call.authorizationList?.length ?? 0);
}

/** The least gas that the transaction pays, however little it executes (EIP-7623). 0 before prague. */
export function floorGas(call: EstimateCall, common: Common): bigint {
  if (!common.isActivatedEIP(7623)) return 0n;
  const {zeros, others} = countBytes(call.data);
  return TX_GAS + FLOOR_TOKEN_GAS * (zeros + TOKENS_OF_NONZERO_BYTE * others);
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

/** The type that the call names, or else the newest type that `common` has for its fields. */
export function typeOf(call: EstimateCall, common: Common): TransactionType {
  if (call.type !== undefined) return call.type;
  if (common.isActivatedEIP(1559)) return 2;
  return call.accessList === undefined ? 0 : 1;
}

/** The EIP that introduced a transaction type, if `common` does not have it. */
export function missingEip(type: TransactionType, common: Common): number | undefined {
  const eip = {0: undefined, 1: 2930, 2: 1559, 4: 7702}[type];
  return eip === undefined || common.isActivatedEIP(eip) ? undefined : eip;
}

/**
 * The bytes that a sender signs: `type | rlp(fields)`. For type 0: rlp(fields), with the chain id as in EIP-155.
 *
 * @param type - of the transaction; the call's own type is ignored
 * @param nonce - of the sender; used if the call names none
 */
export function encodeUnsigned(
  call: EstimateCall,
  type: TransactionType,
  nonce: bigint,
  gasLimit: bigint,
  chainId: bigint,
): Uint8Array {
  const number = bigIntToUnpaddedBytes;
  const to = call.to ?? new Uint8Array(0);
  const ends = [number(gasLimit), to, number(call.value), call.data];
  const nonceBytes = number(call.nonce ?? nonce);
  if (type === 0) {
    const none = new Uint8Array(0);
    return RLP.encode([nonceBytes, number(call.gasPrice ?? 0n), ...ends, number(chainId), none, none]);
  }
  const accessList = (call.accessList ?? []).map(({address, storageKeys}) => [
    address,
    splitWords(storageKeys),
  ]);
  const prices =
    type === 1
      ? [number(call.gasPrice ?? 0n)]
      : [number(call.maxPriorityFeePerGas ?? 0n), number(call.maxFeePerGas ?? 0n)];
  const fields: NestedUint8Array = [number(chainId), nonceBytes, ...prices, ...ends, accessList];
  if (type === 4) {
    fields.push(
      (call.authorizationList ?? []).map(({chainId, address, nonce, yParity, r, s}) => [
        number(chainId),
        address,
        number(nonce),
        number(yParity),
        number(r),
        number(s),
      ]),
    );
  }
  const encoded = RLP.encode(fields);
  const typed = new Uint8Array(1 + encoded.length);
  typed[0] = type;
  typed.set(encoded, 1);
  return typed;
}

function countBytes(data: Uint8Array): {zeros: bigint; others: bigint} {
  let zeros = 0;
  for (let at = 0; at < data.length; at++) if (data[at] === 0) zeros++;
  return {zeros: BigInt(zeros), others: BigInt(data.length - zeros)};
}
