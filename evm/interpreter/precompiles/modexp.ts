/**
 * The modexp precompile (EIP-198; prices of EIP-2565 and EIP-7883, bounds of EIP-7823).
 *
 *   base length 32 | exponent length 32 | modulus length 32 | base | exponent | modulus
 *
 * The exponent stays a byte string: 50 million gas buy one of 18 MB, and operations on a bigint of that length would
 * block the thread for seconds.
 */
import {encodeNumber, readNumber} from "./numbers.ts";
import {type PartTime, type Precompile, require} from "./precompile.ts";

const WORD_BYTES = 32;
const HEAD_BYTES = 3 * WORD_BYTES;
/** EIP-7823. */
const MAX_OPERAND_BYTES = 1024n;
/** Multiplications between two yields, about 0.25 ms. One with a short modulus counts as 1. */
const PART_WORK = 4096;

export const modexp: Precompile = {
  price(data, isOsaka) {
    const {base, exponent, modulus} = lengthsOf(data);
    const headBytes = exponent < WORD_BYTES ? Number(exponent) : WORD_BYTES;
    const head = readNumber(data, BigInt(HEAD_BYTES) + base, headBytes);
    return priceOf(larger(base, modulus), exponent, head, isOsaka);
  },

  /** The price bounds the lengths, except that of the exponent if base and modulus are empty. */
  *run(data, isOsaka) {
    const {base, exponent, modulus} = lengthsOf(data);
    require(!isOsaka ||
      [base, exponent, modulus].every(
        length => length <= MAX_OPERAND_BYTES,
      ), "an operand is too long (EIP-7823)");
    if (modulus === 0n) return new Uint8Array(0);
    const exponentAt = BigInt(HEAD_BYTES) + base;
    const divisor = readNumber(data, exponentAt + exponent, Number(modulus));
    const start = Number(exponentAt);
    const steps = data.subarray(start, start + Number(exponent));
    const number = divisor === 0n ? 0n : readNumber(data, HEAD_BYTES, Number(base)) % divisor;
    const power =
      divisor === 0n ? 0n : yield* raise(number, steps, Number(exponent), divisor, Number(modulus));
    return encodeNumber(power, Number(modulus));
  },
};

function lengthsOf(data: Uint8Array): {base: bigint; exponent: bigint; modulus: bigint} {
  const word = (at: number): bigint => readNumber(data, at * WORD_BYTES, WORD_BYTES);
  return {base: word(0), exponent: word(1), modulus: word(2)};
}

/** @param head - the first 32 bytes of the exponent, or all if there are fewer */
function priceOf(longest: bigint, exponentLength: bigint, head: bigint, isOsaka: boolean): bigint {
  const rest = exponentLength > 32n ? exponentLength - 32n : 0n;
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1);
  const steps = larger(rest * (isOsaka ? 16n : 8n) + headBits, 1n);
  const words = (longest + 7n) / 8n;
  if (isOsaka) return larger(steps * (longest > 32n ? 2n * words * words : 16n), 500n);
  return larger((steps * words * words) / 3n, 200n);
}

/** @param exponent - padded with zeros up to `length`. @param bytes - length of the modulus */
function* raise(
  base: bigint,
  exponent: Uint8Array,
  length: number,
  modulus: bigint,
  bytes: number,
): Generator<PartTime, bigint, void> {
  const first = exponent.findIndex(byte => byte !== 0);
  let power = 1n % modulus;
  if (first === -1) return power;
  // 60 ns for a short modulus, 40 us for 1 KB; 20 ms for 95 KB, the longest that 50 million gas buy.
  const work = 1 + (bytes / WORD_BYTES) ** 2;
  const partTime = work > 8 * PART_WORK ? "long" : "short";
  let rest = 0;
  for (let at = first; at < length; at++) {
    const byte = exponent[at] ?? 0;
    for (let bit = 0x80; bit > 0; bit >>= 1) {
      const isOne = (byte & bit) !== 0;
      for (let step = isOne ? 2 : 1; step > 0; step--) {
        rest -= work;
        if (rest < 0) {
          yield partTime;
          rest = PART_WORK;
        }
        const isSquare = !isOne || step === 2;
        power = (power * (isSquare ? power : base)) % modulus;
      }
    }
  }
  return power;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
