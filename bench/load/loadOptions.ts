/** What a load is told to be; the command line checks every field (cli/flags/loadFlags.ts). */
import type {BlockChoice} from "./requests/blockChoice.ts";
import type {KnownAccount} from "./requests/keys.ts";
import type {Style} from "./requests/requestMaker.ts";

export interface LoadOptions {
  readonly url: URL;
  readonly style: Style;
  readonly connections: number;
  /** At most as many as connections. */
  readonly threads: number;
  readonly batch: number;
  /** Requests per second in all; null = closed loop. */
  readonly rate: number | null;
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  readonly absent: number;
  readonly slots: number;
  readonly blocks: BlockChoice;
  readonly estimates: number;
  /** JSON texts of estimates' `params`, of which each takes a random one; left out: transfers of nothing. */
  readonly estimateParams?: readonly string[];
  readonly keys: KeyChoice;
  readonly seed: number;
  readonly timeoutMs: number;
  /** Calls to verify. */
  readonly verify: number;
  readonly limits: LoadLimits;
  /** Of the program that sends the load. */
  readonly version: string;
  /** That started it, for the report. */
  readonly command: string;
}

/** Beyond these a load has failed. */
export interface LoadLimits {
  readonly maxErrors: ErrorLimit;
  /** Milliseconds: from when a request was due in an open loop, service time in a closed one. */
  readonly maxP99Ms: number | null;
}

/** Calls that may get an error, or be lost with a request that fails. */
export type ErrorLimit = {readonly calls: number} | {readonly percent: number};

export type KeyChoice =
  | {readonly kind: "file"; readonly path: string; readonly accounts: readonly KnownAccount[]}
  | {readonly kind: "numbered"; readonly count: number}
  /** Whatever the server is known to have. */
  | {readonly kind: "server"};
