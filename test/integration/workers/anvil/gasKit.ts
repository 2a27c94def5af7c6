/** Tools for the cases of the gas comparison. */
import assert from "node:assert/strict";
import {bytesToBigInt, eoaCode7702SignAuthorization, type PrefixedHexString} from "@ethereumjs/util";
import {decodeHex, encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {type AbiValue, encodeCall, word} from "../../../../demo/abi.ts";
import {codeOf} from "../../../support/estimates/assembler.ts";
import type {AuthorizationObject, CallObject, Overrides} from "../../../support/estimates/callObject.ts";
import {type GasContracts, mappingSlot, type Person, people} from "./gasAccounts.ts";
import {CHAIN_ID} from "./gasChain.ts";

export interface GasCase {
  readonly title: string;
  readonly call: CallObject;
  readonly overrides?: Overrides;
  /**
   * The call spends less gas if it gets less. So limits far below what it spends at the upper bound are enough too. Our search
   * starts at the gas spent there, like those of the standard nodes. anvil's search starts at 21000.
   */
  readonly spendsWhatItGets?: true;
  /** anvil answers 21000 for any call without data to a receiver without code, and does not execute it. */
  readonly guessedByAnvil?: true;
  /** A transaction runs in the next block, whose time, randomness and parent are others: what is enough here may not be there. */
  readonly dependsOnBlock?: true;
}

export interface FailingCase {
  readonly title: string;
  readonly call: CallObject;
  readonly overrides?: Overrides;
  readonly code: number;
  readonly message: RegExp;
  /** anvil's eth_estimateGas ignores the fault; "both": its eth_call does too. */
  readonly ignoredByAnvil?: "eth_estimateGas" | "both";
}

/** An address without an account. */
export const NEW_HOLDER = `0x${"aaa1".padStart(40, "0")}`;

/** Makes the parts of a case. */
export interface Kit {
  readonly contracts: GasContracts;
  /** Address of a contract. */
  at(name: string): string;
  /** A call from alice. */
  call(name: string, signature: string, ...values: AbiValue[]): CallObject;
  input(name: string, signature: string, ...values: AbiValue[]): Uint8Array;
}

export function createKit(contracts: GasContracts): Kit {
  const contract = (name: string) => contracts[name] ?? assert.fail(`no contract ${name}`);
  const input: Kit["input"] = (name, signature, ...values) =>
    encodeCall(contract(name), signature, ...values);
  return {
    contracts,
    at: name => contract(name).at,
    input,
    call: (name, signature, ...values) => ({
      from: people.alice.address,
      to: contract(name).at,
      data: encodeHex(input(name, signature, ...values)),
    }),
  };
}

export function transfer(to: string, value: bigint): CallObject {
  return {from: people.alice.address, to, value: quantity(value)};
}

export function address(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

export function slot(number: number): string {
  return encodeHex(word(BigInt(number)));
}

/** The slot of a person's balance in the token. */
export function balanceSlot({address}: Person): string {
  return encodeHex(mappingSlot(address, word(0n)));
}

/** Initcode of an account with `size` bytes of code, all zero. */
export function initcodeOf(size: number): Uint8Array {
  const codecopy = decodeHex(codeOf(`PUSH2 ${size} DUP1 PUSH1 10 PUSH0 CODECOPY PUSH0 RETURN`));
  return Buffer.concat([codecopy, Buffer.alloc(size)]);
}

/** Code that counts down, 26 gas each time. */
export function loop(rounds: number): string {
  return codeOf(`PUSH2 ${rounds} again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP`);
}

export function sign(
  {key}: Person,
  delegate: string,
  nonce: bigint,
  chainId = CHAIN_ID,
): AuthorizationObject {
  const unsigned = {
    chainId: quantity(chainId) as PrefixedHexString,
    address: delegate as PrefixedHexString,
    nonce: quantity(nonce) as PrefixedHexString,
  };
  const [, , , yParity, r, s] = eoaCode7702SignAuthorization(unsigned, key) as Uint8Array[];
  const number = (bytes: Uint8Array | undefined) => quantity(bytesToBigInt(bytes ?? new Uint8Array(0)));
  return {...unsigned, yParity: number(yParity), r: number(r), s: number(s)};
}
