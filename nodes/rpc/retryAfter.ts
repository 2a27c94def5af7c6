/** The header Retry-After (RFC 9110, section 10.2.3): how long a server asks clients to wait. */

/** Longer delays are cut to this. */
export const MAX_RETRY_AFTER_MS = 300_000;
/** The required format. Date.parse alone accepts almost any text. */
const DATE = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/** @param value - of the header: seconds, or a date. @returns 0 to MAX_RETRY_AFTER_MS; undefined if it is neither */
export function parseRetryAfter(value: unknown, nowMs: number): number | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  let waitMs = Number.NaN;
  if (/^[0-9]+$/.test(text)) waitMs = Number(text) * 1000;
  else if (DATE.test(text)) waitMs = Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}
