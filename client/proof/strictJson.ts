/** Reads parsed JSON strictly. Each error names the place in the answer and the rule that is broken. */
import {decodeHex} from "../bytes/hex.ts";
import {count, isObject, shown} from "../bytes/values.ts";
import {ProofError} from "./proofError.ts";

/** Text of a message. A function where a check runs for every node, because formatting costs more than the check. */
export type Message = string | (() => string);

/** @throws ProofError `at: rule` */
export function check(holds: boolean, at: Message, rule: Message): asserts holds {
  if (!holds) throw new ProofError(formatMessage(at), formatMessage(rule));
}

function formatMessage(message: Message): string {
  return typeof message === "string" ? message : message();
}

/** @returns the values of the fields, in the order of the names. The object may have more fields, in any order */
export function readFields(at: string, value: unknown, names: readonly string[]): unknown[] {
  check(isObject(value), at, `expected an object, got ${shown(value)}`);
  return names.map(name => {
    check(Object.hasOwn(value, name), at, `the field ${name} is missing`);
    return value[name];
  });
}

/** How many elements an array may have, and what they are called in messages. */
export interface ArraySize {
  readonly least: number;
  readonly most: number;
  readonly what: string;
}

/**
 * Reads every element of an array. Array.prototype.map would skip holes.
 *
 * @param size - a number: exactly so many elements; undefined: any number
 */
export function readArray<Element>(
  at: string,
  value: unknown,
  size: number | ArraySize | undefined,
  readElement: (element: unknown, i: number) => Element,
): Element[] {
  check(Array.isArray(value), at, `expected an array, got ${shown(value)}`);
  const {length} = value;
  if (typeof size === "object") checkCount(at, length, size);
  else
    check((size ?? length) === length, at, () => `expected ${count(Number(size), "element")}, got ${length}`);
  return Array.from({length}, (_, i) => readElement(value[i], i));
}

export function checkCount(at: string, n: number, {least, most, what}: ArraySize): void {
  check(n >= least && n <= most, at, () => `expected ${least} to ${most} ${what}, got ${n}`);
}

/** @returns the bytes as a Uint8Array, also those of a Buffer. @throws ProofError for anything else */
export function plainBytes(at: string, value: unknown): Uint8Array {
  check(value instanceof Uint8Array, at, () => `expected bytes, got ${shown(value)}`);
  return value.constructor === Uint8Array ? value : new Uint8Array(value);
}

/** @param size - number of bytes; undefined: any */
export function readBytes(at: Message, text: unknown, size?: number): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = decodeHex(text);
  } catch (error) {
    throw new ProofError(formatMessage(at), (error as Error).message);
  }
  if (size !== undefined) checkSize(at, bytes, size);
  return bytes;
}

/** @throws ProofError unless there are `size` bytes */
export function checkSize(at: Message, bytes: Uint8Array, size: number): void {
  check(bytes.length === size, at, () => `expected ${count(size, "byte")}, got ${bytes.length}`);
}
