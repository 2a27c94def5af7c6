/** Rows of flags that several commands have. */
import {DEFAULT_SUITE_NAME, STORE_SUITE_NAMES, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {NODE_SOURCES} from "../../workers/messages/importSource.ts";
import {onSwitch, value} from "./flagTable.ts";
import {parseAddress, parseChainId, parseFinalized, parseHistory, parseText} from "./flagValues.ts";

/** Blocks of --l2 are read. Beside --diffs and --finality tag, its nodes only tell what is finalized. */
export const READS_L2 = "l2, !diffs | !finality=tag";

export const DB_FLAGS = {db: value("<folder>", parseText, "./data").says("folder of the store")};

export const CONFIG_FLAG = value("<file>", parseText).says(
  "read flags from this file: lines such as port = 8545; flags and variables win over it",
);

export const SOURCE_FLAG = value("<name>", NODE_SOURCES).says(
  "how blocks of --l2 are read: executed here, or as changes that the node traced or logged (default: what the store and the node can do)",
  READS_L2,
);

export const FINALIZED_FLAG = value("<block>", parseFinalized).says(
  "blocks up to this one are finalized, as are those that lines of --diffs mark; last: every block that is read",
);

export const ALLOW_UNVERIFIED_FLAG = onSwitch(
  "take unverified blocks too: the state after them is not compared with a root of a header or of their source (docs/following.md)",
);

export const HISTORY_FLAG = value("<blocks>", parseHistory, {kind: "all"}, "all").says(
  "which finalized blocks are kept: all; the newest N; or finalizations, those that ended a finalization on layer 1. The others are pruned for good",
);

export const CHAIN_FLAGS = {
  chainId: value("<id>", parseChainId).says(
    "id of the chain; other chains are refused. Needed only where block 0 does not name it",
  ),
  suite: value("<name>", STORE_SUITE_NAMES).says(
    `hash suite of the trees, or keccak: Ethereum's own tries alone; a new store gets it, a store with another suite is refused (default for a new store: ${DEFAULT_SUITE_NAME})`,
  ),
};

/** Of what asks a server. */
export const ASKED_SUITE_FLAG = value("<name>", SUITE_NAMES, DEFAULT_SUITE_NAME).says(
  "hash suite of the chain's trees, which chain_getCoverage names",
);

export const TRUSTED_ROLLUP_FLAG = value("<address>", parseAddress).says(
  "rollup contract on layer 1 whose stateRootHashes(block) is trusted, as of layer 1's finalized block",
  "l1",
);
