/** Reads an answer without tolerance for its texts. Each error names the place in the answer and the rule. */
import {decodeHex} from "../bytes/hex.ts";
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
  check(isObject(value), at, "not an object");
  return names.map(name => {
    check(Object.hasOwn(value, name), at, `has no ${name}`);
    return value[name];
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param size - number of bytes; undefined: any */
export function readBytes(at: Words, text: unknown, size?: number): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = decodeHex(text);
  } catch (error) {
    throw new ProofError(wordsOf(at), (error as Error).message);
  }
  check(size === undefined || bytes.length === size, at, () => `${bytes.length} bytes instead of ${size}`);
  return bytes;
}
