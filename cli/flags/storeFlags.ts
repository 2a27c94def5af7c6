/** Flags that several commands have for their store. */
import {InvalidArgumentError} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import type {History} from "../../storage/prune/retention.ts";
import {parseChainId, parseFinalized, parseText} from "./flag.ts";
import {onSwitch, value} from "./flagTable.ts";

const MAX_HISTORY_BLOCKS = 2 ** 48 - 1;

export const DB_FLAGS = {db: value("<folder>", parseText, "./data").says("folder of the store")};

export const CONFIG_FLAG = value("<file>", parseText).says(
  "read flags from this file: lines such as port = 8545; flags and variables win over it",
);

export const FINALIZED_FLAG = value("<block>", parseFinalized).says(
  "blocks up to this one are finalized, as are those that lines of --diffs mark; last: every block that is read",
);

export const ALLOW_UNVERIFIED_FLAG = onSwitch(
  "take blocks whose state no root vouches for, too: neither their headers', nor one that their source names (docs/following.md)",
);

export const HISTORY_FLAG = value("<blocks>", parseHistory, {kind: "all"}, "all").says(
  "which finalized blocks are kept: all; the newest N; or finalizations, those that ended a finalization on layer 1. The others are pruned for good",
);

export const CHAIN_FLAGS = {
  chainId: value("<id>", parseChainId).says(
    "id of the chain; other chains are refused. Needed only where block 0 does not name it",
  ),
  suite: value("<name>", SUITE_NAMES).says(
    `hash suite of the trees; a new store gets it, a store with another suite is refused (default for a new store: ${DEFAULT_SUITE_NAME})`,
  ),
};

export function parseHistory(text: string): History {
  if (text === "all" || text === "finalizations") return {kind: text};
  const blocks = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (blocks >= 1 && blocks <= MAX_HISTORY_BLOCKS) return {kind: "newest", blocks};
  throw new InvalidArgumentError("Expected all, finalizations, or a number of blocks of at least 1.");
}
