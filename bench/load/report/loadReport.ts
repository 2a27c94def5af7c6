/** The report of a load: figures only. `--json` prints it, textReport.ts and htmlReport.ts show it. */
import type {LoadLimits} from "../loadOptions.ts";
import type {BlockSpan} from "../requests/blockChoice.ts";
import type {LatencyFigures, LatencyReport} from "../traffic/latency.ts";
import type {TimelineRow} from "../traffic/timeline.ts";
import type {Target} from "../verification/target.ts";
import type {Verification} from "../verification/verification.ts";
import type {Machine} from "./machine.ts";

export interface LoadReport {
  /** Why the load has not passed; none where it has. */
  readonly failures: readonly string[];
  readonly version: string;
  /** What started the load. */
  readonly command: string;
  /** Of the generator. The commit is that of the generator's program; the server says its own in server.client. */
  readonly machine: Omit<Machine, "date">;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly url: string;
  readonly server: Target;
  readonly settings: ReportedSettings;
  /** closed: latency is service time, from a request's first byte written. open: from when it was due. */
  readonly loop: "closed" | "open";
  /** Of the measured time; shorter than asked for where a signal ended it. */
  readonly seconds: number;
  /** Was it ended early? */
  readonly stopped: boolean;
  /** What arrived in the measured time, per second. */
  readonly perSecond: {
    readonly requests: number;
    readonly calls: number;
    /** A proof is that of one account or of one slot. */
    readonly proofs: number;
    /** Of the answers' bodies. */
    readonly bytes: number;
  };
  /** Requests that were due in the measured time: requests = answered + failed. */
  readonly requests: {
    readonly due: number;
    /** HTTP 200. */
    readonly answered: number;
    readonly failed: number;
    /** Ended after the measured time. */
    readonly late: number;
  };
  /** Their calls: calls = results + errors + malformed + lost with a request that failed. */
  readonly calls: {
    readonly due: number;
    readonly results: number;
    readonly errors: number;
    readonly malformed: number;
    readonly lost: number;
    readonly proofs: number;
    readonly estimates: number;
  };
  /** Of requests with a result, and of timeouts up to when they were given up. null where there are none. */
  readonly latency: LatencyReport | null;
  /** Open loop: from a request's first byte written, of those with a result. null in a closed loop. */
  readonly service: LatencyReport | null;
  /** Closed loop: what clients at a steady pace would have seen. null in an open loop. */
  readonly corrected: (LatencyReport & {readonly intervalMs: number}) | null;
  readonly errors: ReportedErrors;
  readonly verification: Verification;
  readonly generator: {
    /** Of each thread's event loop in the measured time, 0 .. 1. */
    readonly utilization: readonly number[];
    /** CPU time of this process per second of measured time, all threads. */
    readonly cpuCores: number;
    /** Open loop: how late requests left although a connection was free. null in a closed loop. */
    readonly sendLag: LatencyFigures | null;
    /** Open loop: share of requests that had to wait for a free connection. */
    readonly waitedShare: number;
    /** Was it the generator that could not do more? */
    readonly wasLimit: boolean;
  };
  /** What the reader of the figures should know. */
  readonly notes: readonly string[];
  /** One per second of the measured time, by when answers arrived. */
  readonly timeline: readonly TimelineRow[];
}

export interface ReportedSettings {
  readonly style: string;
  readonly connections: number;
  readonly threads: number;
  readonly batch: number;
  readonly rate: number | null;
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  readonly absent: number;
  readonly slots: number;
  /** null = the tag "latest". */
  readonly blocks: BlockSpan | null;
  readonly estimates: number;
  /** Where the accounts come from, and how many. */
  readonly keys: string;
  readonly seed: number;
  readonly timeoutMs: number;
  readonly verify: number;
  readonly limits: LoadLimits;
}

export interface ReportedErrors {
  /** Calls, by JSON-RPC code. */
  readonly rpc: readonly ReportedError[];
  /** Requests, by HTTP status. */
  readonly http: readonly ReportedError[];
  /** Requests, by the code of the socket's error. */
  readonly socket: readonly ReportedError[];
  /** Requests given up. */
  readonly timeouts: number;
  /** Timeouts of requests for which no connection became free. */
  readonly neverSent: number;
  /** Calls that HTTP 200 was answered to, without a result or an error. */
  readonly malformed: number;
  readonly malformedReason: string;
}

export interface ReportedError {
  readonly code: string;
  readonly count: number;
  /** The first one's. */
  readonly message: string;
}
