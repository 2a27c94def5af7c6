/** Formats figures: short, with the unit. */

/** 1234567 becomes 1 234 567, with narrow no-break spaces. */
export function writeWhole(value: number | bigint): string {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

/** Three significant digits, such as 0.12, 4.5 or 1 230. */
export function writeNumber(value: number): string {
  return value.toLocaleString("en", {maximumSignificantDigits: 3}).replaceAll(",", "\u202f");
}

const DURATIONS = [
  [86_400 * 365, "years"],
  [86_400, "days"],
  [3600, "h"],
  [60, "min"],
] as const;

export function writeSeconds(seconds: number): string {
  for (const [length, unit] of DURATIONS)
    if (seconds >= 2 * length) return `${writeWhole(Math.floor(seconds / length))} ${unit}`;
  return `${writeWhole(Math.max(0, Math.floor(seconds)))} s`;
}

export function writeMilliseconds(seconds: number): string {
  return `${writeNumber(seconds * 1000)} ms`;
}

const BYTES = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
] as const;

export function writeBytes(bytes: number): string {
  for (const [size, unit] of BYTES) if (bytes >= size) return `${writeNumber(bytes / size)} ${unit}`;
  return `${bytes} B`;
}

export function shorten(hex: string): string {
  return hex.length <= 16 ? hex : `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}
