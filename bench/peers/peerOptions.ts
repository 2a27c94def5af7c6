/** The arguments of `npm run bench:peers`. */
import {type FlagTable, type FlagTexts, parseCount, parseNames} from "../stages/flags.ts";
import type {PeerName} from "./comparison.ts";
import {LOAD_NAMES, type LoadName} from "./peerLoads.ts";

const PEERS: readonly PeerName[] = ["proofd", "naive", "anvil"];

export interface PeerOptions {
  readonly accounts: number;
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  readonly rounds: number;
  readonly loadNames: readonly LoadName[];
  readonly peerNames: readonly PeerName[];
}

export const FLAGS = {
  accounts: {
    value: "N",
    default: "100k",
    about: "accounts in block 0, such as 100k or 1M; stores are kept under bench-data/",
  },
  duration: {value: "SECONDS", default: "4", about: "measured time of each load"},
  "warm-up": {value: "SECONDS", default: "1", about: "the same load before it, not measured"},
  rounds: {value: "N", default: "3", about: "rounds in turn; the middle one counts"},
  only: {value: "A,B", about: `only these loads: ${LOAD_NAMES.join(", ")} (default: all)`},
  servers: {value: "A,B", about: `only these servers: ${PEERS.join(", ")} (default: all)`},
} as const satisfies FlagTable;

/** @throws FlagError */
export function readOptions(texts: FlagTexts<typeof FLAGS>): PeerOptions {
  return {
    accounts: parseCount("accounts", texts.accounts, 1000, 10_000_000, ", such as 100k or 1M"),
    durationSeconds: parseCount("duration", texts.duration, 1, 3600),
    warmUpSeconds: parseCount("warm-up", texts["warm-up"], 0, 3600),
    rounds: parseCount("rounds", texts.rounds, 1, 100),
    loadNames: parseNames("only", texts.only, LOAD_NAMES) ?? LOAD_NAMES,
    peerNames: parseNames("servers", texts.servers, PEERS) ?? PEERS,
  };
}
