/** Reads an answer without tolerance. Each error names the place in the answer and the rule. */
import {decodeHex} from "./hex.ts";

/** @throws Error `at: rule` */
export function check(holds: boolean, at: string, rule: string): asserts holds {
  if (!holds) throw new Error(`${at}: ${rule}`);
}

/** @returns the values of the fields, in order. The object must have exactly these fields in exactly this order */
export function readFields(at: string, value: unknown, names: readonly string[]): unknown[] {
  check(isObject(value), at, "not an object");
  const found = Object.keys(value).join(", ");
  check(found === names.join(", "), at, `fields are ${found} instead of ${names.join(", ")}`);
  return names.map(name => value[name]);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readBytes(at: string, text: unknown): Uint8Array {
  try {
    return decodeHex(text);
  } catch (error) {
    throw new Error(`${at}: ${(error as Error).message}`);
  }
}
