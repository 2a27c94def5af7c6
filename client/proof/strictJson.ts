/** Reads an answer without tolerance for its texts. Each error names the place in the answer and the rule. */
import {decodeHex} from "../bytes/hex.ts";
import {count, isArray, isObject, shown} from "../bytes/values.ts";
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
    check(hasField(at, value, name), at, `the field ${name} is missing`);
    return readField(at, value, name);
  });
}

/** @returns undefined if there is none */
export function readField(at: string, value: object, name: string | number): unknown {
  return read(at, () => (value as Record<string | number, unknown>)[name]);
}

export function hasField(at: string, value: unknown, name: string): boolean {
  return isObject(value) && read(at, () => Object.hasOwn(value, name));
}

/** How many elements an array may have, and what they are in words. */
export interface ArraySize {
  readonly least: number;
  readonly most: number;
  readonly what: string;
}

/**
 * Reads an array element by element, also the holes, and calls no method of the array's own.
 *
 * @param size - a number: so many elements, no fewer and no more
 */
export function readArray<Element>(
  at: string,
  value: unknown,
  size: number | ArraySize,
  readElement: (element: unknown, i: number) => Element,
): Element[] {
  check(isArray(value), at, `expected an array, got ${shown(value)}`);
  const length = readField(at, value, "length");
  if (typeof size !== "number") checkCount(at, length, size);
  else check(length === size, at, () => `expected ${count(size, "element")}, got ${shown(length)}`);
  const elements: Element[] = [];
  for (let i = 0; i < (length as number); i++) elements.push(readElement(readField(at, value, i), i));
  return elements;
}

/** @throws ProofError */
export function checkCount(at: string, n: unknown, {least, most, what}: ArraySize): void {
  const holds = typeof n === "number" && n >= least && n <= most;
  check(holds, at, () => `expected ${least} to ${most} ${what}, got ${shown(n)}`);
}

/** Answers that are not parsed JSON may have getters, or be proxies, which throw what they like. */
function read<Value>(at: string, get: () => Value): Value {
  try {
    return get();
  } catch {
    throw new ProofError(at, "cannot be read");
  }
}

/** @returns the same bytes, without methods of their own. @throws ProofError if it is something else */
export function plainBytes(at: string, value: unknown): Uint8Array {
  check(
    ArrayBuffer.isView(value) && value instanceof Uint8Array,
    at,
    () => `expected bytes, got ${shown(value)}`,
  );
  return value.constructor === Uint8Array ? value : new Uint8Array(value);
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
