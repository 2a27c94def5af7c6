/**
 * Counts of the requests that were due in the measured time, whenever they ended, and how the counts of threads are added.
 */
import type {Verdict} from "./answer.ts";

/** One kind of error, and the first message with it. */
export interface Trouble {
  count: number;
  readonly message: string;
}

/**
 * requests = answered + HTTP statuses + socket errors + timeouts
 *
 * calls of answered requests = results + JSON-RPC errors + malformed
 */
export interface Tally {
  requests: number;
  /** Requests with HTTP 200 and a whole body. */
  answered: number;
  /** Calls with a result. */
  results: number;
  /** Results of estimates, which are part of `results`. */
  estimateResults: number;
  /** Calls by JSON-RPC error code. */
  readonly rpc: Record<string, Trouble>;
  /** Calls of requests answered with HTTP 200 that got neither a result nor an error. */
  malformed: number;
  malformedReason: string;
  /** Requests by HTTP status other than 200. */
  readonly http: Record<string, Trouble>;
  /** Requests by the code of the socket's error. */
  readonly socket: Record<string, Trouble>;
  /** Requests that got no answer in time. */
  timeouts: number;
  /** Timed-out requests for which no connection became free in all that time. */
  neverSent: number;
  /** Open loop: requests for which no connection was free when they were due. */
  waited: number;
}

export function createTally(): Tally {
  return {
    requests: 0,
    answered: 0,
    results: 0,
    estimateResults: 0,
    rpc: {},
    malformed: 0,
    malformedReason: "",
    http: {},
    socket: {},
    timeouts: 0,
    neverSent: 0,
    waited: 0,
  };
}

export function countVerdict(tally: Tally, verdict: Verdict): void {
  tally.answered++;
  tally.results += verdict.results;
  tally.estimateResults += verdict.estimateResults;
  tally.malformed += verdict.malformed;
  tally.malformedReason ||= verdict.malformedReason;
  for (const {code, message, calls} of verdict.troubles)
    countTrouble(tally.rpc, String(code), calls, message);
}

export function countTrouble(
  into: Record<string, Trouble>,
  key: string,
  count: number,
  message: string,
): void {
  const trouble = into[key];
  if (trouble === undefined) into[key] = {count, message};
  else trouble.count += count;
}

export function addTally(into: Tally, from: Tally): void {
  into.requests += from.requests;
  into.answered += from.answered;
  into.results += from.results;
  into.estimateResults += from.estimateResults;
  into.malformed += from.malformed;
  into.malformedReason ||= from.malformedReason;
  into.timeouts += from.timeouts;
  into.neverSent += from.neverSent;
  into.waited += from.waited;
  for (const kind of ["rpc", "http", "socket"] as const) {
    for (const [key, {count, message}] of Object.entries(from[kind]))
      countTrouble(into[kind], key, count, message);
  }
}
