/** The options of a load. The caller validates them (cli/flags/loadFlags.ts). */
import type {Keys, ListedKeys} from "./requests/keys.ts";

export type Style = "chain" | "eth";

export interface LoadOptions {
  readonly url: URL;
  /** Sent with every request. Lower-case names. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly style: Style;
  readonly connections: number;
  /** At most `connections`. */
  readonly threads: number;
  /** Calls per request. With 1, a request is an object instead of an array. */
  readonly batch: number;
  /** Requests per second over all connections; undefined: closed loop. */
  readonly rate: number | undefined;
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  /** Fraction of the proofs that are of absent accounts, 0 .. 1. */
  readonly absent: number;
  readonly slots: number;
  readonly blocks: BlockChoice;
  /** Fraction of the calls that are estimates, 0 .. 1. */
  readonly estimates: number;
  /** Default: estimateGas of the style. Answers of other methods cannot be verified: `verify` must be 0. */
  readonly estimateMethod?: string | undefined;
  /** `params` of estimates as JSON. Each estimate uses a random one. Default: transfers of 0 wei. */
  readonly estimateParams?: readonly string[] | undefined;
  readonly keys: KeyChoice;
  readonly seed: number;
  readonly timeoutMs: number;
  readonly verify: number;
  /** A load that exceeds one of these fails. */
  readonly limits: {
    readonly maxErrors: ErrorLimit;
    /** In an open loop, from when a request was due; in a closed one, service time. */
    readonly maxP99Ms: number | undefined;
  };
  readonly version: string;
  readonly commit: string;
  readonly command: string;
}

/** Calls that may fail: those with a JSON-RPC error, and all calls of failed requests. */
export type ErrorLimit = {readonly calls: number} | {readonly percent: number};

/** The tag "latest", or a range from which each call takes a random block. */
export type BlockChoice = "latest" | {readonly from: BlockEnd; readonly to: BlockEnd};

export type BlockEnd = number | "latest" | "oldest";

export type KeyChoice =
  | Keys
  /** Those of `known` if the server serves that chain; otherwise, in eth style, accounts in the newest blocks. */
  | {readonly kind: "server"; readonly known?: (ListedKeys & {readonly chainId: number}) | undefined};
