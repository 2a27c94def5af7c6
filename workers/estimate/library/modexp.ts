/**
 * The modexp precompile under a deadline (EIP-198; its price also by 2565 and 7883, its bounds by 7823).
 *
 *   base length | exponent length | modulus length | base | exponent | modulus        32 bytes each, then as they say
 *
 * The library's version turns the exponent into one number and shifts it for every bit. 50 million gas buy an exponent of
 * 18 MB. Its hex text, made byte by byte, takes 30 times that in memory, and neither the loop nor a shift can be stopped for
 * seconds. Here the exponent stays bytes.
 */
import type {Common} from "@ethereumjs/common";
import {EVMError, type ExecResult, type PrecompileInput} from "@ethereumjs/evm";
import type {Deadline} from "../call/deadline.ts";

const WORD_BYTES = 32;
const HEAD_BYTES = 3 * WORD_BYTES;
/** EIP-7823. */
const MAX_OPERAND_BYTES = 1024n;
const NO_BYTES = new Uint8Array(0);

/** @returns the precompile; it throws TimeLimitError */
export function createModexp(deadline: Deadline): (input: PrecompileInput) => ExecResult {
  return ({data, gasLimit, common}) => {
    const [baseLength, exponentLength, modulusLength] = [0, 1, 2].map(at =>
      readNumber(data, BigInt(at * WORD_BYTES), WORD_BYTES),
    ) as [bigint, bigint, bigint];
    const exponentAt = BigInt(HEAD_BYTES) + baseLength;
    const headBytes = exponentLength < WORD_BYTES ? Number(exponentLength) : WORD_BYTES;
    const head = readNumber(data, exponentAt, headBytes);
    const longest = baseLength > modulusLength ? baseLength : modulusLength;
    const gas = priceOf(longest, exponentLength, head, common);
    const isTooLong =
      common.isActivatedEIP(7823) && (longest > MAX_OPERAND_BYTES || exponentLength > MAX_OPERAND_BYTES);
    if (gas > gasLimit || isTooLong) return outOfGas(gasLimit);
    // The gas is paid, which bounds the lengths. Without base and modulus it does not bound the exponent's length.
    if (modulusLength === 0n) return {executionGasUsed: gas, returnValue: NO_BYTES};
    const modulusBytes = Number(modulusLength);
    const modulus = readNumber(data, exponentAt + exponentLength, modulusBytes);
    const base = readNumber(data, BigInt(HEAD_BYTES), Number(baseLength));
    const start = Number(exponentAt);
    const exponent = data.subarray(start, start + Number(exponentLength));
    const power =
      modulus === 0n ? 0n : raise(base % modulus, exponent, Number(exponentLength), modulus, deadline);
    return {executionGasUsed: gas, returnValue: encodeNumber(power, modulusBytes)};
  };
}

/** @param head - the first 32 bytes of the exponent as a number, or all bytes if there are fewer */
function priceOf(longest: bigint, exponentLength: bigint, head: bigint, common: Common): bigint {
  const isLatest = common.isActivatedEIP(7883);
  const rest = exponentLength > 32n ? exponentLength - 32n : 0n;
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1);
  const steps = larger(rest * (isLatest ? 16n : 8n) + headBits, 1n);
  const words = (longest + 7n) / 8n;
  if (isLatest) return larger(steps * (longest > 32n ? 2n * words * words : 16n), 500n);
  if (common.isActivatedEIP(2565)) return larger((steps * words * words) / 3n, 200n);
  return (steps * oldComplexity(longest)) / 20n;
}

/** EIP-198. */
function oldComplexity(length: bigint): bigint {
  const square = length * length;
  if (length <= 64n) return square;
  if (length <= 1024n) return square / 4n + 96n * length - 3072n;
  return square / 16n + 480n * length - 199_680n;
}

/** @param exponent - zeros follow it up to `length`. @throws TimeLimitError */
function raise(
  base: bigint,
  exponent: Uint8Array,
  length: number,
  modulus: bigint,
  deadline: Deadline,
): bigint {
  const first = exponent.findIndex(byte => byte !== 0);
  let power = 1n % modulus;
  if (first === -1) return power;
  for (let at = first; at < length; at++) {
    const byte = exponent[at] ?? 0;
    for (let bit = 0x80; bit > 0; bit >>= 1) {
      // Numbers of 100 KB take 20 ms per bit.
      deadline.check();
      power = (power * power) % modulus;
      if ((byte & bit) !== 0) power = (power * base) % modulus;
    }
  }
  return power;
}

/** Zeros follow the end of `data`. */
function readNumber(data: Uint8Array, at: bigint, bytes: number): bigint {
  const start = at > BigInt(data.length) ? data.length : Number(at);
  const there = data.subarray(start, start + bytes);
  if (there.length === 0) return 0n;
  const text = Buffer.from(there.buffer, there.byteOffset, there.length).toString("hex");
  return BigInt(`0x${text}`) << BigInt(8 * (bytes - there.length));
}

function encodeNumber(value: bigint, bytes: number): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex"));
}

function outOfGas(gasLimit: bigint): ExecResult {
  const exceptionError = new EVMError(EVMError.errorMessages.OUT_OF_GAS);
  return {returnValue: NO_BYTES, executionGasUsed: gasLimit, exceptionError};
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
