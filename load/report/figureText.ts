/** Formats figures for people. */

/** "1 call", "2 calls". */
export function count(n: number, unit: string): string {
  return `${formatCount(n)} ${unit}${n === 1 ? "" : "s"}`;
}

/** 48120 as 48 120; a number below 100 rounded to one decimal. */
export function formatCount(n: number): string {
  const text = n < 100 ? String(Math.round(10 * n) / 10) : String(Math.round(n));
  return text.replace(/\B(?=(\d{3})+$)/g, " ");
}

export function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : formatCount(ms);
}

export function formatMegabytes(bytes: number): string {
  const megabytes = bytes / 1e6;
  return `${megabytes < 100 ? megabytes.toFixed(megabytes < 10 ? 2 : 1) : formatCount(megabytes)} MB`;
}

export function percent(fraction: number): string {
  return `${Math.round(1000 * fraction) / 10} %`;
}
