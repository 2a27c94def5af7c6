/** The precompiles that need curves or big numbers, by address. Loaded when one is called first. */
import {blake2f} from "./blake2f.ts";
import {blsAddG1, blsAddG2, blsMapToG1, blsMapToG2, blsPair, blsSumG1, blsSumG2} from "./bls12381.ts";
import {bn254Add, bn254Multiply, bn254Pair} from "./bn254.ts";
import {modexp} from "./modexp.ts";
import {p256Verify} from "./p256.ts";
import {pointEvaluation} from "./pointEvaluation.ts";
import type {Precompile} from "./precompile.ts";

export const CURVE_PRECOMPILES: Readonly<Record<number, Precompile>> = {
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
