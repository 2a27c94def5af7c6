/** Untrusted values: their types, and how messages show them. */

const MAX_SHOWN = 80;

/** A received value, for "got ..." in a message: text is cut after 80 characters. */
export function shown(value: unknown): string {
  if (typeof value === "string") return `"${oneLine(value, MAX_SHOWN)}"`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}

/** The start of an untrusted text. Control characters, which could fake lines of a log or a terminal, become spaces. */
export function oneLine(text: string, maxLength: number): string {
  const plain = text.slice(0, maxLength).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  return text.length > maxLength ? `${plain}...` : plain;
}

/** A number of things: `1 byte`, `2 bytes`. */
export function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
