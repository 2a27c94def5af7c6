/** Values from outside: what they are, and how messages show them. */

const MAX_SHOWN = 80;

/** What came, for "got ...": text is cut after 80 characters. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return value.length > MAX_SHOWN ? `"${value.slice(0, MAX_SHOWN)}..."` : `"${value}"`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/** A number of things: `1 byte`, `2 bytes`. */
export function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
