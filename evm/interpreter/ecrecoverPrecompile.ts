/** The precompile at address 1: who signed. Its input is a hash, v, r and s, 32 bytes each; zeros follow its end. */
import {keccak256} from "../../storage/hash/keccak.ts";
import {ecrecover} from "./ecrecover.ts";
import type {PrecompileOutput} from "./precompiles/precompile.ts";

const GAS = 3000n;
const INPUT_BYTES = 128;
const NO_BYTES = new Uint8Array(0);

/** The output is an address in 32 bytes, or nothing if nobody can have signed. */
export function recoverSigner(data: Uint8Array, gas: bigint): PrecompileOutput | "outOfGas" {
  if (gas < GAS) return "outOfGas";
  const input = Buffer.alloc(INPUT_BYTES);
  input.set(data.subarray(0, INPUT_BYTES));
  const v = input[63];
  const hasV = (v === 27 || v === 28) && input.subarray(32, 63).every(byte => byte === 0);
  if (!hasV) return {gas: GAS, output: NO_BYTES};
  try {
    const key = ecrecover(input.subarray(0, 32), BigInt(v), input.subarray(64, 96), input.subarray(96));
    const output = new Uint8Array(32);
    output.set(keccak256(key).subarray(12), 12);
    return {gas: GAS, output};
  } catch {
    // The library throws for a signature that nobody can have made. The precompile returns nothing then.
    return {gas: GAS, output: NO_BYTES};
  }
}
