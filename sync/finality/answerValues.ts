/** Values in a node's answers. What is not as expected means that the answer is of no use: NodeFailure. */
import {NodeFailure} from "../rpc/node.ts";

/** 13 hex digits are 52 bits, which a double holds exactly. Block numbers have 48. */
const QUANTITY = /^0x[0-9a-f]{1,13}$/i;

/** @param what - names the value in the message. @throws NodeFailure for anything but an object */
export function requireObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new NodeFailure(`${what} is not an object`);
  return value as Record<string, unknown>;
}

/** @throws NodeFailure for anything but 0x and 1 to 13 hex digits */
export function requireNumber(value: unknown, what: string): number {
  if (typeof value === "string" && QUANTITY.test(value)) return Number(value);
  throw new NodeFailure(`${what} is ${show(value)}: expected 0x and at most 13 hex digits`);
}

/** @throws NodeFailure for anything but 0x and the hex digits of `length` bytes */
export function requireBytes(value: unknown, length: number, what: string): Buffer {
  const isHex = typeof value === "string" && value.length === 2 + 2 * length && /^0x[0-9a-f]*$/i.test(value);
  if (isHex) return Buffer.from(value.slice(2), "hex");
  throw new NodeFailure(`${what} is ${show(value)}: expected ${length} bytes as 0x hex`);
}

/** Objects and arrays are only named: they may be nested deeper than the stack allows. @returns at most 51 characters */
function show(value: unknown): string {
  if (typeof value === "object" && value) return Array.isArray(value) ? "an array" : "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 48 ? `${text.slice(0, 48)}...` : text;
}
