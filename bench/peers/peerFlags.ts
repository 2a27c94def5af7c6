/** The flags of `npm run bench:peers`. */
import {type ValuesOf, value} from "../../cli/flags/flagTable.ts";
import {countParser} from "../../cli/flags/flagValues.ts";
import {namesParser} from "../program/benchProgram.ts";
import {DEFAULT_BLOCKS} from "../stages/storeSize.ts";
import {LOAD_NAMES, PEER_NAMES} from "./peerLoads.ts";

export const PEER_FLAGS = {
  accounts: value("<count>", countParser(1000, 10_000_000), 100_000, "100k").says(
    "accounts in block 0, such as 100k or 1M; stores are kept under bench-data/",
  ),
  blocks: value("<count>", countParser(1, 100_000), DEFAULT_BLOCKS).says("blocks of history after block 0"),
  duration: value("<seconds>", countParser(1, 3600), 4).says("measured time of each load"),
  warmUp: value("<seconds>", countParser(0, 3600), 1).says("warm-up before it, not measured"),
  rounds: value("<count>", countParser(1, 100), 3).says("alternating rounds, whose median counts"),
  only: value("<names>", namesParser(LOAD_NAMES), LOAD_NAMES, "all").says(
    `only these loads: ${LOAD_NAMES.join(", ")}`,
  ),
  servers: value("<names>", namesParser(PEER_NAMES), PEER_NAMES, "all").says(
    `only these servers: ${PEER_NAMES.join(", ")}`,
  ),
};

export type PeerFlags = ValuesOf<typeof PEER_FLAGS>;
