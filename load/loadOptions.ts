/** The options of a load. The command line checks every field (cli/flags/loadFlags.ts). */
import type {Keys, ListedKeys} from "./requests/keys.ts";

export type Style = "chain" | "eth";

export interface LoadOptions {
  readonly url: URL;
  /** Sent with every request. Names in lower case. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly style: Style;
  readonly connections: number;
  /** Not more than connections. */
  readonly threads: number;
  /** Calls per request; 1 = one object instead of an array. */
  readonly batch: number;
  /** Requests per second of all connections together; undefined = closed loop. */
  readonly rate: number | undefined;
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  /** Fraction of the proofs that ask for an account that does not exist, 0 .. 1. */
  readonly absent: number;
  /** Slots per proof. */
  readonly slots: number;
  readonly blocks: BlockChoice;
  /** Fraction of the calls that are estimates, 0 .. 1. */
  readonly estimates: number;
  /** JSON texts of estimates' `params`. Each estimate takes a random one. Default: transfers of nothing. */
  readonly estimateParams?: readonly string[] | undefined;
  readonly keys: KeyChoice;
  readonly seed: number;
  readonly timeoutMs: number;
  /** How many calls to verify. */
  readonly verify: number;
  /** A load that exceeds one of these has failed. */
  readonly limits: {
    readonly maxErrors: ErrorLimit;
    /** Milliseconds. Counted from when a request was due in an open loop; service time in a closed one. */
    readonly maxP99Ms: number | undefined;
  };
  /** The version of the program that sends the load. */
  readonly version: string;
  /** The commit that it was built from. */
  readonly commit: string;
  /** The command that started the load, for the report. */
  readonly command: string;
}

/** How many calls may fail: those that get an error, and those of requests that fail. */
export type ErrorLimit = {readonly calls: number} | {readonly percent: number};

/** "latest" alone: the tag, the newest provable block, which moves with the head. Else a random block of the range for each call. */
export type BlockChoice = "latest" | {readonly from: BlockEnd; readonly to: BlockEnd};

export type BlockEnd = number | "latest" | "oldest";

export type KeyChoice =
  | Keys
  /** Accounts that the server is found to have: those of `known`; of other chains in eth style, those in the newest blocks. */
  | {readonly kind: "server"; readonly known?: KnownChain | undefined};

/** A chain whose accounts are known. */
export interface KnownChain extends ListedKeys {
  readonly chainId: number;
}
