/** The X-Request-Id header: a caller's own name for a request. It is in the log, in internal errors and in the answer. */

export const REQUEST_ID = "X-Request-Id";

/** What a log line, a header and a shell take without quoting. */
const VALID = /^[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}$/;

/** Another one is replaced by an id of proofd's own. */
export function isRequestId(text: string): boolean {
  return VALID.test(text);
}
