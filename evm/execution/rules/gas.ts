/** Gas of a transaction besides its execution: intrinsic gas, floor and refunds. */
import type {ForkRules} from "./forkRules.ts";

/** A call without data; also the base of the floor of EIP-7623. */
export const TX_GAS = 21_000;
const CREATION_GAS = 32_000;
const ZERO_BYTE_GAS = 4;
/** EIP-2028. */
const NONZERO_BYTE_GAS = 16;
/** EIP-3860. */
const INITCODE_WORD_GAS = 2;
const WORD_BYTES = 32;
/** EIP-2930. */
const LISTED_ADDRESS_GAS = 2400;
const LISTED_SLOT_GAS = 1900;
/** EIP-7702, for a new account. authorizations.ts refunds part of it if the account exists. */
const AUTHORIZATION_GAS = 25_000;
/** EIP-7623: a zero byte counts as one token, other bytes as four. */
const FLOOR_TOKEN_GAS = 10;
const TOKENS_OF_NONZERO_BYTE = 4;
/** EIP-3529: at most a fifth of the used gas is refunded; before, at most a half. */
const REFUND_PART = 5n;
const OLD_REFUND_PART = 2n;

export interface PaidFields {
  readonly data: Uint8Array;
  readonly isCreation: boolean;
  readonly listedAddresses: number;
  readonly listedSlots: number;
  readonly authorizations: number;
}

export type PaidGas = Readonly<ReturnType<typeof paidGas>>;

/** @returns `floor`: minimum gas used (EIP-7623); 0 before prague */
export function paidGas(fields: PaidFields, rules: ForkRules) {
  const {data, listedAddresses, listedSlots, authorizations} = fields;
  let zeros = 0;
  for (let at = 0; at < data.length; at++) if (data[at] === 0) zeros++;
  const others = data.length - zeros;
  let gas = TX_GAS + zeros * ZERO_BYTE_GAS + others * NONZERO_BYTE_GAS;
  if (fields.isCreation) {
    gas += CREATION_GAS;
    if (rules.isShanghai) gas += INITCODE_WORD_GAS * Math.ceil(data.length / WORD_BYTES);
  }
  gas += LISTED_ADDRESS_GAS * listedAddresses + LISTED_SLOT_GAS * listedSlots;
  gas += AUTHORIZATION_GAS * authorizations;
  const floor = TX_GAS + FLOOR_TOKEN_GAS * (zeros + TOKENS_OF_NONZERO_BYTE * others);
  return {intrinsic: BigInt(gas), floor: rules.isPrague ? BigInt(floor) : 0n};
}

/** @param left - after execution. @param refund - before its cap. @returns the gas that the sender pays for */
export function gasUsed(
  limit: bigint,
  left: bigint,
  refund: bigint,
  floor: bigint,
  rules: ForkRules,
): bigint {
  const spent = limit - left;
  const most = spent / (rules.hasBaseFee ? REFUND_PART : OLD_REFUND_PART);
  const used = spent - (refund < most ? refund : most);
  return used > floor ? used : floor;
}
