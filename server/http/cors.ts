/**
 * Cross-origin requests: which web pages may send requests from a browser (--cors).
 *
 *   page -- OPTIONS /, Origin, Access-Control-Request-Method --> 204, methods and headers   before the first POST
 *   page -- POST /, Origin --> every answer, errors included, with Access-Control-Allow-Origin
 *
 * An origin that is not allowed is answered as without --cors: the browser keeps the answer from the page.
 */

export type Header = readonly [name: string, value: string];

export const ANY_ORIGIN = "*";

/** How long a browser may remember a preflight. Browsers have lower limits, Chromium two hours. */
const MAX_AGE_SECONDS = 86_400;
const EXPOSE: Header = ["Access-Control-Expose-Headers", "Retry-After, X-Request-Id"];
const VARY: readonly Header[] = [["Vary", "Origin"]];

const PREFLIGHT: readonly Header[] = [
  ["Access-Control-Allow-Methods", "POST"],
  ["Access-Control-Allow-Headers", "Content-Type, X-Request-Id"],
  ["Access-Control-Max-Age", String(MAX_AGE_SECONDS)],
];

export class Cors {
  private readonly allowed = new Map<string, readonly Header[]>();
  private readonly otherwise: readonly Header[];
  private readonly isForAny: boolean;

  /** @param origins - as browsers send them, or ANY_ORIGIN */
  constructor(origins: readonly string[]) {
    this.isForAny = origins.includes(ANY_ORIGIN);
    this.otherwise = this.isForAny ? [allow(ANY_ORIGIN), EXPOSE] : VARY;
    if (this.isForAny) return;
    for (const origin of origins) this.allowed.set(origin, [allow(origin), EXPOSE, ...VARY]);
  }

  /** @param origin - "" if the request names none */
  headersFor(origin: string): readonly Header[] {
    return this.allowed.get(origin) ?? this.otherwise;
  }

  /** @returns the additional headers of a preflight's answer; undefined: the origin is not allowed */
  preflightFor(origin: string): readonly Header[] | undefined {
    return this.isForAny || this.allowed.has(origin) ? PREFLIGHT : undefined;
  }
}

function allow(origin: string): Header {
  return ["Access-Control-Allow-Origin", origin];
}
