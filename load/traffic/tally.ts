/** Counts of the requests that were due in the measured time, whenever they ended. */
import type {Verdict} from "./answer.ts";

export interface Trouble {
  count: number;
  readonly message: string;
}

type ByCode = Record<string, Trouble>;

/**
 * requests = answered + HTTP statuses + socket errors + timeouts
 *
 * calls of answered requests = results + JSON-RPC errors + malformed
 */
export type Tally = ReturnType<typeof createTally>;

export function createTally() {
  return {
    counts: {
      requests: 0,
      /** Requests with HTTP 200 and a complete body. */
      answered: 0,
      results: 0,
      /** Results of estimates, which are part of `results`. */
      estimateResults: 0,
      malformed: 0,
      timeouts: 0,
      neverSent: 0,
      /** Open loop: requests for which no connection was free when they were due. */
      waited: 0,
    },
    /** Calls by JSON-RPC error code; requests by HTTP status other than 200, and by the code of the socket's error. */
    troubles: {rpc: {}, http: {}, socket: {}} as Readonly<Record<"rpc" | "http" | "socket", ByCode>>,
    malformedReason: "",
  };
}

export function countVerdict(tally: Tally, verdict: Verdict): void {
  const {counts, troubles} = tally;
  counts.answered++;
  counts.results += verdict.results;
  counts.estimateResults += verdict.estimateResults;
  counts.malformed += verdict.malformed;
  tally.malformedReason ||= verdict.malformedReason;
  for (const {code, message, calls} of verdict.troubles)
    countTrouble(troubles.rpc, String(code), calls, message);
}

export function countTrouble(into: ByCode, key: string, count: number, message: string): void {
  const trouble = into[key];
  if (trouble === undefined) into[key] = {count, message};
  else trouble.count += count;
}

export function addTally(into: Tally, from: Tally): void {
  addCounts(into.counts, from.counts);
  into.malformedReason ||= from.malformedReason;
  for (const kind of ["rpc", "http", "socket"] as const)
    for (const [key, {count, message}] of Object.entries(from.troubles[kind]))
      countTrouble(into.troubles[kind], key, count, message);
}

export function addCounts<Name extends string>(
  into: Record<Name, number>,
  from: Readonly<Record<Name, number>>,
): void {
  for (const name of Object.keys(into) as Name[]) into[name] += from[name];
}
