/** The precompiles that do not need @noble/curves, by address. They are loaded with the EVM. */
import {hash as digest} from "node:crypto";
import {ripemd160} from "@noble/hashes/legacy.js";
import {recoverSigner} from "../ecrecover.ts";
import type {Precompile} from "./precompile.ts";

const WORD = 32;
const NO_BYTES = new Uint8Array(0);

function hash(gas: bigint, wordGas: bigint, run: (data: Uint8Array) => Uint8Array): Precompile {
  return {price: data => gas + wordGas * BigInt(Math.ceil(data.length / WORD)), run};
}

/** ecrecover. Input: hash, v, r, s, 32 bytes each. Output: an address, or nothing for an invalid signature. */
const ecrecover: Precompile = {
  price: () => 3000n,
  run(data) {
    const input = Buffer.alloc(4 * WORD);
    input.set(data.subarray(0, 4 * WORD));
    const v = input[2 * WORD - 1];
    const hasV = (v === 27 || v === 28) && input.subarray(WORD, 2 * WORD - 1).every(byte => byte === 0);
    const signer = hasV && recoverSigner(input.subarray(0, WORD), input.subarray(2 * WORD), v === 28);
    return signer ? toWord(signer) : NO_BYTES;
  },
};

export const QUICK_PRECOMPILES: Readonly<Record<number, Precompile>> = {
  1: ecrecover,
  // The digest as a string takes 0.5 us for 64 bytes, as a Buffer 0.95, with createHash 1.3.
  2: hash(60n, 12n, data => Buffer.from(digest("sha256", data, "binary"), "binary")),
  3: hash(600n, 120n, data => toWord(ripemd160(data))),
  // identity, for a message and for too little gas; other calls do not leave WebAssembly (calls.ts).
  4: hash(15n, 3n, data => data),
};

function toWord(bytes: Uint8Array): Uint8Array {
  const word = new Uint8Array(WORD);
  word.set(bytes, WORD - bytes.length);
  return word;
}
