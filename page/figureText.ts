/** Formats numbers and hashes. */

/** 1234567 becomes 1 234 567, with narrow no-break spaces. */
export function writeWhole(value: number | bigint): string {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

export function shorten(hex: string): string {
  return hex.length <= 16 ? hex : `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}
