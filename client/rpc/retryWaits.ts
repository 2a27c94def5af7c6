/**
 * The waits between tries. Each is twice the last, up to a bound, and no less than the server asks for. A random part is taken
 * off, so that callers spread out.
 */

export interface RetrySettings {
  /** Tries after the first one. 0: none. */
  readonly times: number;
  /** Before the second try. */
  readonly firstMs: number;
  /** No wait is longer. A server that asks for more (Retry-After) is not asked again: its error is thrown. */
  readonly longestMs: number;
}

export const DEFAULT_RETRY: RetrySettings = {times: 5, firstMs: 250, longestMs: 60_000};

/**
 * @param tries - made so far, at least 1
 * @param retryAfterMs - what the server asks for
 * @returns milliseconds to wait. undefined: do not try again
 */
export function retryWaitMs(
  {times, firstMs, longestMs}: RetrySettings,
  tries: number,
  retryAfterMs = 0,
): number | undefined {
  if (tries > times || retryAfterMs > longestMs) return undefined;
  const stepMs = Math.min(firstMs * 2 ** (tries - 1), longestMs);
  return Math.max(stepMs * (0.5 + 0.5 * Math.random()), retryAfterMs);
}

/** As servers must write a date. Date.parse alone takes almost any text. */
const DATE = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * Reads the header Retry-After (RFC 9110, section 10.2.3).
 *
 * @param value - seconds, or a date
 * @param nowMs - milliseconds since 1970
 * @returns milliseconds, 0 or more. undefined if the value is neither
 */
export function parseRetryAfter(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(at - nowMs, 0);
}
