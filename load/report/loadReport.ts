/** The report of a load as data. `--json` prints it; textReport.ts and htmlReport.ts format it. */
import type {LoadOptions} from "../loadOptions.ts";
import type {BlockSpan} from "../requests/requestMaker.ts";
import type {LatencyFigures, LatencyReport} from "../traffic/latency.ts";
import type {TimelineRow} from "../traffic/timeline.ts";
import type {ServerUsage} from "../verification/serverUsage.ts";
import type {Target} from "../verification/target.ts";
import type {Verification} from "../verification/verifySamples.ts";
import type {Machine} from "./machine.ts";

export interface LoadReport {
  /** Why the load failed; empty if it passed. */
  readonly failures: readonly string[];
  readonly version: string;
  readonly command: string;
  /** The commit of the generator. `server.client` names the server's. */
  readonly commit: string;
  readonly machine: Machine;
  readonly startedAt: string;
  /** Scheme, host and port. The rest may contain keys. */
  readonly url: string;
  readonly server: Target;
  /** The options, without keys and long values. */
  readonly settings: Omit<
    LoadOptions,
    "url" | "headers" | "version" | "commit" | "command" | "blocks" | "keys" | "estimateParams"
  > & {
    /** undefined: the tag "latest". */
    readonly blocks: BlockSpan | undefined;
    /** Source and number of the accounts. */
    readonly keys: string;
  };
  /** Latency counts from the first byte written (closed: service time) or from when the request was due (open). */
  readonly loop: "closed" | "open";
  /** Length of the measured time, shorter than the option if a signal ended it. */
  readonly seconds: number;
  /** Whether a signal ended the load early. */
  readonly stopped: boolean;
  /** What arrived in the measured time, per second. */
  readonly perSecond: {
    readonly requests: number;
    readonly calls: number;
    /** A proof is that of one account or one slot. */
    readonly proofs: number;
    /** Bytes of answer bodies. */
    readonly bytes: number;
  };
  /** Requests that were due in the measured time: requests = answered + failed. */
  readonly requests: {
    readonly due: number;
    /** HTTP 200. */
    readonly answered: number;
    readonly failed: number;
    /** Requests that ended after the measured time. */
    readonly late: number;
  };
  /** The calls of these requests: calls = results + errors + malformed + lost with a request that failed. */
  readonly calls: {
    readonly due: number;
    readonly results: number;
    readonly errors: number;
    readonly malformed: number;
    readonly lost: number;
    readonly proofs: number;
    readonly estimates: number;
  };
  /** Latency of requests with a result, and time-outs; undefined if there are none. */
  readonly latency: LatencyReport | undefined;
  /** Open loop: time from a request's first byte written, of requests with a result. undefined in a closed loop. */
  readonly service: LatencyReport | undefined;
  readonly errors: {
    /** Calls, by JSON-RPC code. */
    readonly rpc: readonly ReportedError[];
    /** Requests, by HTTP status. */
    readonly http: readonly ReportedError[];
    /** Requests, by error code of the socket. */
    readonly socket: readonly ReportedError[];
    /** Requests that got no answer in time. */
    readonly timeouts: number;
    /** Timed-out requests for which no connection became free. */
    readonly neverSent: number;
    /** Calls of requests answered with HTTP 200 that got neither a result nor an error. */
    readonly malformed: number;
    readonly malformedReason: string;
  };
  readonly verification: Verification;
  /** From the server's /metrics for the measured time; a string says why they are not available. */
  readonly serverUsage: ServerUsage | string;
  readonly against: Comparison | undefined;
  readonly generator: {
    /** Fraction of the measured time in which each thread worked, or was ready to work but had no core, 0 .. 1. */
    readonly utilization: readonly number[];
    /** The part of these fractions without a core. 0 except on Linux. */
    readonly starved: readonly number[];
    /** CPU time of the generator's process per second of measured time. */
    readonly cpuCores: number;
    /** Open loop: delay of requests that were due and had a free connection. undefined in a closed loop. */
    readonly sendLag: LatencyFigures | undefined;
    /** Open loop: fraction of requests that had to wait for a free connection. */
    readonly waitedShare: number;
    readonly wasLimit: boolean;
  };
  /** Why the figures may not describe the server. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** One row per second of the measured time. Answers count in the second of their arrival. */
  readonly timeline: readonly TimelineRow[];
}

interface Comparison extends Pick<LoadReport, "startedAt" | "commit" | "command" | "loop"> {
  readonly latency: Pick<LatencyReport, "count" | "distribution"> | undefined;
  readonly figures: readonly {readonly name: string; readonly earlier: number; readonly now: number}[];
}

/** @returns JSON in which undefined fields are null */
export function encodeReport(report: LoadReport): string {
  return JSON.stringify(report, (_name, value: unknown) => value ?? null);
}

export interface ReportedError {
  readonly code: string;
  readonly count: number;
  /** The message of the first one. */
  readonly message: string;
}
