/** The precompiles that the interpreter leaves to the host, by address. Loaded with the first call of one. */
import {blake2f} from "./blake2f.ts";
import {blsAddG1, blsAddG2, blsMapToG1, blsMapToG2, blsPair, blsSumG1, blsSumG2} from "./bls12381.ts";
import {bn254Add, bn254Multiply, bn254Pair} from "./bn254.ts";
import {modexp} from "./modexp.ts";
import {p256Verify} from "./p256.ts";
import {pointEvaluation} from "./pointEvaluation.ts";
import {
  type Precompile,
  type PrecompileBounds,
  type PrecompileOutput,
  PrecompileRefusal,
} from "./precompile.ts";

const PRECOMPILES: Readonly<Record<number, Precompile>> = {
  5: modexp,
  6: bn254Add,
  7: bn254Multiply,
  8: bn254Pair,
  9: blake2f,
  10: pointEvaluation,
  11: blsAddG1,
  12: blsSumG1,
  13: blsAddG2,
  14: blsSumG2,
  15: blsPair,
  16: blsMapToG1,
  17: blsMapToG2,
  256: p256Verify,
};

/**
 * @param data - it is kept in parts
 * @returns "failed": it refuses its input; "outOfGas": it takes more than `gas`
 * @throws what the bounds throw
 */
export function runPrecompile(
  address: number,
  data: Uint8Array,
  gas: bigint,
  isOsaka: boolean,
  bounds: PrecompileBounds,
): PrecompileOutput | "failed" | "outOfGas" {
  const precompile = PRECOMPILES[address];
  if (precompile === undefined) throw new Error(`there is no precompile ${address}`);
  const price = precompile.price(data, isOsaka);
  if (price > gas) return "outOfGas";
  const run = (): Uint8Array => precompile.run(data, isOsaka, bounds);
  try {
    return {gas: price, output: precompile.isLong === true ? bounds.run(run) : run()};
  } catch (error) {
    if (error instanceof PrecompileRefusal) return "failed";
    throw error;
  }
}
