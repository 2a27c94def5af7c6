/** What came, for an error message: never more than a line of it. */

const MAX_SHOWN = 48;

/** @returns JSON text of `value`, cut after 48 characters; arrays and objects by their kind only */
export function shorten(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  if (value.length <= MAX_SHOWN) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, MAX_SHOWN))}... (${value.length} characters)`;
}
