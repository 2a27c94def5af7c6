/** Flags that several commands share. */
import {DEFAULT_SUITE_NAME, STORE_SUITE_NAMES, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {WHOLE_SOURCES} from "../../workers/messages/importSource.ts";
import {onSwitch, value} from "./flagTable.ts";
import {parseAddress, parseChainId, parseFinalized, parseHistory, parseText} from "./flagValues.ts";

/** Blocks are read from --l2. With --diffs and --finality tag, its nodes are only asked what is finalized. */
export const READS_L2 = "l2, !diffs | !finality=tag";

export const DB_FLAGS = {db: value("<folder>", parseText, "./data").says("store folder")};

export const CONFIG_FLAG = value("<file>", parseText).says(
  "read flags from this file, with lines such as db = /data/db; flags and variables take precedence",
);

export const SOURCE_FLAG = value("<name>", WHOLE_SOURCES).says(
  "how to read blocks of --l2: execute them here, or take the changes from the node's traces or trie logs (default: chosen by what the store and the node support)",
  READS_L2,
);

export const FINALIZED_FLAG = value("<block>", parseFinalized).says(
  "mark blocks up to this one as finalized, besides those that --diffs marks; last: every block that is read",
);

export const ALLOW_UNVERIFIED_FLAG = onSwitch(
  "accept unverified blocks, whose state is not compared with a root in a header or from their source (docs/following.md)",
);

export const HISTORY_FLAG = value("<blocks>", parseHistory, {kind: "all"}, "all").says(
  "which finalized blocks to keep: all; the newest N; or finalizations, those that ended a finalization on layer 1. Other blocks are pruned permanently",
);

export const CHAIN_FLAGS = {
  chainId: value("<id>", parseChainId).says(
    "chain id; other chains are refused. Needed only if block 0 does not have it",
  ),
  suite: value("<name>", STORE_SUITE_NAMES).says(
    `hash suite of the trees, or keccak for Ethereum's own tries alone; must match that of an existing store (default for a new store: ${DEFAULT_SUITE_NAME})`,
  ),
};

export const ASKED_SUITE_FLAG = value("<name>", SUITE_NAMES, DEFAULT_SUITE_NAME).says(
  "hash suite of the server's trees, as in chain_getCoverage",
);

export const TRUSTED_ROLLUP_FLAG = value("<address>", parseAddress).says(
  "trust stateRootHashes(block) of this rollup contract, as of layer 1's finalized block",
  "l1",
);
