/** Reads an answer without tolerance for its texts. Each error names the place in the answer and the rule. */
import {decodeHex} from "../bytes/hex.ts";
import {count, isObject, shown} from "../bytes/values.ts";
import {ProofError} from "./proofError.ts";

/** Words of a message. Where checks run for every node, a function, because writing words costs more than the check. */
export type Words = string | (() => string);

/** @throws ProofError `at: rule` */
export function check(holds: boolean, at: Words, rule: Words): asserts holds {
  if (!holds) throw new ProofError(wordsOf(at), wordsOf(rule));
}

function wordsOf(words: Words): string {
  return typeof words === "string" ? words : words();
}

/** @returns the values of the fields, in the order of the names. Fields in another order, and more of them, do no harm */
export function readFields(at: string, value: unknown, names: readonly string[]): unknown[] {
  check(isObject(value), at, `expected an object, got ${shown(value)}`);
  return names.map(name => {
    check(Object.hasOwn(value, name), at, `the field ${name} is missing`);
    return value[name];
  });
}

/** @param length - number of elements; undefined: any */
export function readArray(at: string, value: unknown, length?: number): readonly unknown[] {
  check(Array.isArray(value), at, `expected an array, got ${shown(value)}`);
  if (length !== undefined)
    check(value.length === length, at, `expected ${count(length, "element")}, got ${value.length}`);
  return value;
}

/** @param size - number of bytes; undefined: any */
export function readBytes(at: Words, text: unknown, size?: number): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = decodeHex(text);
  } catch (error) {
    throw new ProofError(wordsOf(at), (error as Error).message);
  }
  if (size !== undefined) checkSize(at, bytes, size);
  return bytes;
}

/** @throws ProofError unless there are `size` bytes */
export function checkSize(at: Words, bytes: Uint8Array, size: number): void {
  check(bytes.length === size, at, () => `expected ${count(size, "byte")}, got ${bytes.length}`);
}
