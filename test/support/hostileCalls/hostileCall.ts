/** Parts for calls that keep a worker busy on purpose. */
import {assemble, OP, type Part, pushWidth} from "../estimates/bytecode.ts";

export interface HostileCall {
  readonly title: string;
  readonly hardfork: string;
  /** At `HOSTILE`. */
  readonly code: Uint8Array;
  /** At `HELPER`. */
  readonly helper?: Uint8Array;
  readonly data?: Uint8Array;
  /** The code is the data of a creation. */
  readonly isCreation?: boolean;
  /** Without a time limit it would take seconds on any machine. */
  readonly isLong?: boolean;
  /** More than the front allows: what 50 million gas buys of a plain loop ends in a tenth of a second. */
  readonly gas?: bigint;
}

const HOSTILE_ADDRESS = 0xbad0n;
export const HELPER_ADDRESS = 0xbad1n;
/** With it, only the time limit ends a loop. */
export const ENDLESS = {isLong: true, gas: 2n ** 40n};
export const HOSTILE = addressBytes(HOSTILE_ADDRESS);
export const HELPER = addressBytes(HELPER_ADDRESS);
/** Has slots 0 to `STORED_SLOTS` - 1 in the test's store. */
export const STORED_SLOTS = 3000;

/** The longest code that fits a request of 5 MiB. */
export const LONGEST_CODE = 2_400_000;
/** Memory of 4 MB costs 33 million gas. */
export const MUCH_MEMORY = 4_000_000n;
export const GROW = assemble(1n, MUCH_MEMORY, OP.MSTORE);
/** A word of 32 bytes of ones, made by few bytes of code. */
export const MAX_WORD = assemble(0n, OP.NOT);

/** Runs under the rules of prague, unless `more` names another fork. */
export function hostile(title: string, code: Uint8Array, more: Partial<HostileCall> = {}): HostileCall {
  return {title, hardfork: "prague", code, ...more};
}

/** PUSH1 0 .. PUSH1 0, then `GAS STATICCALL`, the result dropped: `dataBytes` of memory from 0 on to a precompile. */
export function callPrecompile(address: bigint, dataBytes: bigint, gas: Part = OP.GAS): Uint8Array {
  return assemble(0n, 0n, dataBytes, 0n, address, gas, OP.STATICCALL, OP.POP);
}

/** An endless loop of `body`, at `offset` in the code. */
export function loopAt(body: Uint8Array, offset: number): Uint8Array {
  return assemble(OP.JUMPDEST, body, pushWidth(BigInt(offset), 3), OP.JUMP);
}

function addressBytes(address: bigint): Uint8Array {
  return Buffer.from(address.toString(16).padStart(40, "0"), "hex");
}
