/** The field of poseidon2: the integers modulo p = 2^31 - 2^24 + 1. */

export const P = 2130706433n;

export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let e = exponent, b = base % P; e > 0n; e >>= 1n, b = (b * b) % P)
    if (e & 1n) result = (result * b) % P;
  return result;
}

export function modP(x: bigint): bigint {
  return ((x % P) + P) % P;
}

export function inverse(x: bigint): bigint {
  return power(x, P - 2n);
}
