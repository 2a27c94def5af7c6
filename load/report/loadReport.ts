/** The report of a load, as figures only. `--json` prints it; textReport.ts and htmlReport.ts show it. */
import type {LoadOptions} from "../loadOptions.ts";
import type {BlockSpan} from "../requests/requestMaker.ts";
import type {LatencyFigures, LatencyReport} from "../traffic/latency.ts";
import type {TimelineRow} from "../traffic/timeline.ts";
import type {ServerUsage} from "../verification/serverUsage.ts";
import type {Target} from "../verification/target.ts";
import type {Verification} from "../verification/verification.ts";
import type {Machine} from "./machine.ts";

export interface LoadReport {
  /** Why the load has not passed; empty if it has. */
  readonly failures: readonly string[];
  readonly version: string;
  /** The command that started the load. */
  readonly command: string;
  /** The commit of the generator's program; server.client has the server's. */
  readonly commit: string;
  /** The generator's machine. */
  readonly machine: Machine;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Scheme, host and port: the rest may hold keys. */
  readonly url: string;
  readonly server: Target;
  /** What the load was asked to do. */
  readonly settings: Omit<
    LoadOptions,
    "url" | "headers" | "version" | "commit" | "command" | "blocks" | "keys" | "estimateParams"
  > & {
    /** undefined: the tag "latest". */
    readonly blocks: BlockSpan | undefined;
    /** Where the accounts come from, and how many there are. */
    readonly keys: string;
  };
  /** Latency counts from a request's first byte written (closed: service time) or from when the request was due (open). */
  readonly loop: "closed" | "open";
  /** Length of the measured time. Shorter than asked for if a signal ended it. */
  readonly seconds: number;
  /** Did a signal end it early? */
  readonly stopped: boolean;
  /** What arrived in the measured time, per second. */
  readonly perSecond: {
    readonly requests: number;
    readonly calls: number;
    /** A proof is for one account or one slot. */
    readonly proofs: number;
    /** Bytes of the answers' bodies. */
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
  /** Of requests with a result, and of timeouts up to when they were given up. undefined if there are none. */
  readonly latency: LatencyReport | undefined;
  /** Open loop: from a request's first byte written, of those with a result. undefined in a closed loop. */
  readonly service: LatencyReport | undefined;
  readonly errors: {
    /** Calls, by JSON-RPC code. */
    readonly rpc: readonly ReportedError[];
    /** Requests, by HTTP status. */
    readonly http: readonly ReportedError[];
    /** Requests, by the code of the socket's error. */
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
  /** What the server's /metrics say of the measured time; a text: why that is not known. */
  readonly serverUsage: ServerUsage | string;
  /** The run that `--against` named, beside this one. */
  readonly against: Comparison | undefined;
  readonly generator: {
    /** Share of the measured time that each thread worked, or was ready to and had no core, 0 .. 1. */
    readonly utilization: readonly number[];
    /** Of these shares, that without a core. 0 where the system does not tell (it is Linux that does). */
    readonly starved: readonly number[];
    /** CPU time of this process per second of measured time, all threads. */
    readonly cpuCores: number;
    /** Open loop: how late requests left although a connection was free. undefined in a closed loop. */
    readonly sendLag: LatencyFigures | undefined;
    /** Open loop: fraction of requests that had to wait for a free connection. */
    readonly waitedShare: number;
    /** Was the generator, not the server, the limit? */
    readonly wasLimit: boolean;
  };
  /** Why the figures may not be those of the server. */
  readonly warnings: readonly string[];
  /** What else readers of the figures should know. */
  readonly notes: readonly string[];
  /** One row per second of the measured time. Answers count in the second in which they arrived. */
  readonly timeline: readonly TimelineRow[];
}

interface Comparison extends Pick<LoadReport, "startedAt" | "commit" | "command" | "loop"> {
  readonly latency: Pick<LatencyReport, "count" | "distribution"> | undefined;
  readonly figures: readonly {readonly name: string; readonly earlier: number; readonly now: number}[];
}

/** @returns JSON, in which what is not there is null */
export function encodeReport(report: LoadReport): string {
  return JSON.stringify(report, (_name, value: unknown) => value ?? null);
}

export interface ReportedError {
  readonly code: string;
  readonly count: number;
  /** The message of the first one. */
  readonly message: string;
}
