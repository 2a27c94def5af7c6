/** The header Retry-After (RFC 9110, section 10.2.3): how long a server asks callers to wait. */

/** As servers must write a date. Date.parse alone takes almost any text. */
const DATE = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * @param value - of the header: seconds, or a date
 * @param nowMs - milliseconds since 1970
 * @returns milliseconds, 0 or more. undefined if the value is neither
 */
export function parseRetryAfter(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(at - nowMs, 0);
}
