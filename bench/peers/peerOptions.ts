/** The flags of `npm run bench:peers`. */
import type {Command} from "commander";
import {countOption, createProgram, namesOption} from "../program/benchProgram.ts";
import {DEFAULT_BLOCKS} from "../stages/storeSize.ts";

export const PEER_NAMES = ["proofd", "naive", "anvil"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

const LOAD_NAMES = ["account", "slot", "batch", "transfer", "erc20"] as const;
export type LoadName = (typeof LOAD_NAMES)[number];

/** Commander's values, by flag. */
export interface PeerFlags {
  readonly accounts: number;
  /** Of history after block 0. */
  readonly blocks: number;
  /** Seconds. */
  readonly duration: number;
  /** Seconds. */
  readonly warmUp: number;
  readonly rounds: number;
  readonly only: readonly LoadName[];
  readonly servers: readonly PeerName[];
}

export function createPeersProgram(): Command {
  return createProgram(
    "npm run bench:peers --",
    "Compares proofd, the naive server and anvil: asks each the same, in turns; prints a table, writes JSON.",
    [
      countOption(
        "--accounts <count>",
        "accounts in block 0, such as 100k or 1M; stores are kept under bench-data/",
        1000,
        10_000_000,
      ).default(100_000, "100k"),
      countOption("--blocks <count>", "blocks of history after block 0", 1, 100_000).default(DEFAULT_BLOCKS),
      countOption("--duration <seconds>", "measured time of each load", 1, 3600).default(4),
      countOption("--warm-up <seconds>", "the same load before it, not measured", 0, 3600).default(1),
      countOption("--rounds <count>", "rounds in turn; the middle one counts", 1, 100).default(3),
      namesOption("--only <names>", "only these loads", LOAD_NAMES),
      namesOption("--servers <names>", "only these servers", PEER_NAMES),
    ],
  );
}
