/** Flags of `proofd import`: where blocks come from, and what to do with them. */
import type {Command} from "commander";
import type {ImportSource} from "../../workers/messages/importSource.ts";
import {type ValuesOf, value} from "./flagTable.ts";
import {parseBlockNumber, parseHash, parseText} from "./flagValues.ts";
import {createNodeFlags, readNodeSource, readNodes} from "./nodeFlags.ts";
import {
  ALLOW_UNVERIFIED_FLAG,
  CHAIN_FLAGS,
  CONFIG_FLAG,
  DB_FLAGS,
  FINALIZED_FLAG,
  HISTORY_FLAG,
  SOURCE_FLAG,
} from "./sharedFlags.ts";

export const IMPORT_FLAGS = {
  config: CONFIG_FLAG,
  ...DB_FLAGS,
  genesis: value("<file>", parseText).says("genesis.json with its alloc, in geth's format", "!diffs"),
  blocks: value("<file>", parseText).says(
    "blocks in the format of `geth export`, plain or .gz",
    "!l2, !trielogs, !diffs",
  ),
  diffs: value("<file>", parseText).says(
    "block differences as NDJSON, plain or .gz; - reads standard input",
    "!l2, !trielogs",
  ),
  trielogs: value("<file>", parseText).says(
    "trie logs of Besu's Shomei plugin, one per line, plain or .gz; - reads standard input; --genesis gives block 0",
    "!l2",
  ),
  pull: value("<folder>", parseText).says(
    "folder of `proofd pull --all`: initialises an empty store with the state of its block, which becomes finalized",
    "!l2, !blocks, !diffs, !trielogs",
  ),
  state: value("<file>", parseText).says(
    "state dump of `geth snapshot dump`, plain or .gz; - reads standard input: initialises an empty store with the suite keccak; the block of --header becomes finalized",
    "header, !l2, !blocks, !diffs, !trielogs, !pull",
  ),
  header: value("<file>", parseText).says(
    "header of the state's block, as RLP, hex, the response of debug_getRawHeader, or blocks of `geth export` up to it (for BLOCKHASH)",
    "state",
  ),
  ...createNodeFlags("l2"),
  source: SOURCE_FLAG,
  to: value("<block>", parseBlockNumber).says(
    "last block to import from --l2 (default: the node's newest block at startup)",
    "l2",
  ),
  allowUnverified: ALLOW_UNVERIFIED_FLAG,
  finalized: FINALIZED_FLAG,
  head: value("<hash>", parseHash).says(
    "expected hash of the last block; the import fails if the source ends at another block",
    "!l2",
  ),
  history: HISTORY_FLAG,
  ...CHAIN_FLAGS,
};

export function readImportSource(values: ValuesOf<typeof IMPORT_FLAGS>, command: Command): ImportSource {
  const {genesis: genesisPath, blocks: blocksPath, diffs, trielogs, pull, state, header} = values;
  const nodes = readNodes(values, "l2", command);
  if (nodes !== undefined) return readNodeSource(nodes, values, false);
  if (trielogs !== undefined) return {kind: "trielogs", path: trielogs, genesisPath};
  if (diffs !== undefined) return {kind: "diffs", path: diffs};
  if (pull !== undefined) return {kind: "pull", path: pull, genesisPath};
  if (state !== undefined && header !== undefined)
    return {kind: "state", path: state, headerPath: header, genesisPath};
  if (genesisPath !== undefined && blocksPath !== undefined) return {kind: "blocks", genesisPath, blocksPath};
  if (blocksPath !== undefined) return command.error("error: --blocks needs --genesis");
  if (genesisPath !== undefined)
    return command.error("error: --genesis needs --blocks, --trielogs, --pull or --state");
  return command.error(
    "error: nothing to import: give --genesis and --blocks, or --diffs, --trielogs, --pull, --state or --l2",
  );
}
