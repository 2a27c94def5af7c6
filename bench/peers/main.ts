/** `npm run bench:peers`. What it measures with is loaded when its flags are right. */
import {countOption, createProgram, namesOption, runProgram, writeCommand} from "../program/benchProgram.ts";
import {DEFAULT_BLOCKS} from "../stages/storeSize.ts";
import {LOAD_NAMES, PEER_NAMES} from "./peerLoads.ts";
import type {PeerFlags} from "./peersRun.ts";

const accounts = "accounts in block 0, such as 100k or 1M; stores are kept under bench-data/";
const program = createProgram(
  "npm run bench:peers --",
  "Compares proofd, anvil and geth: asks each the same, in turns; prints a table.",
  [
    countOption("--accounts <count>", accounts, 1000, 10_000_000).default(100_000, "100k"),
    countOption("--blocks <count>", "blocks of history after block 0", 1, 100_000).default(DEFAULT_BLOCKS),
    countOption("--duration <seconds>", "measured time of each load", 1, 3600).default(4),
    countOption("--warm-up <seconds>", "the same load before it, not measured", 0, 3600).default(1),
    countOption("--rounds <count>", "rounds in turn; the middle one counts", 1, 100).default(3),
    namesOption("--only <names>", "only these loads", LOAD_NAMES),
    namesOption("--servers <names>", "only these servers", PEER_NAMES),
  ],
);
await runProgram<PeerFlags>(program, async flags => {
  const {comparePeers} = await import("./peersRun.ts");
  await comparePeers(flags, writeCommand(program));
});
