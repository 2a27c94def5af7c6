/** Flags that make a layer-2 node the source of blocks: those of nodeFlags.ts, and how its blocks are read. */
import type {Command, OptionValues} from "commander";
import {NODE_SOURCES, type NodeSource} from "../../workers/job/importSource.ts";
import {parseBlockNumber, parseText} from "./flag.ts";
import {idleWhen, type ValuesOf, value} from "./flagTable.ts";
import {createNodeFlags, readNodes} from "./nodeFlags.ts";

export const GENESIS_FLAG = value("<file>", parseText).says(
  "genesis.json with its alloc, in the format of geth",
);

export const NODE_SOURCE_FLAGS = {
  ...createNodeFlags("l2"),
  ...idleWhen(unread, {
    source: value("<name>", NODE_SOURCES).says(
      "how blocks of --l2 are read: executed here, or as changes that the node traced or logged (default: what the store and the node can do)",
    ),
  }),
};

/** Only for `proofd import`, which ends. */
export const TO_FLAGS = idleWhen(unread, {
  to: value("<block>", parseBlockNumber).says(
    "last block to import from --l2 (default: the node's newest one at the start)",
  ),
});

/** Says why no blocks of --l2 are read; undefined: they are. */
export function unread(values: OptionValues): string | undefined {
  if (values.l2 === undefined) return "without --l2";
  return isOnlyFinality(values) ? "with --diffs" : undefined;
}

/** Beside --diffs, the nodes of --l2 only tell what is finalized. */
export function isOnlyFinality({diffs, finality}: OptionValues): boolean {
  return diffs !== undefined && finality === "tag";
}

type NodeSourceValues = ValuesOf<typeof NODE_SOURCE_FLAGS> & {
  readonly genesis: string | undefined;
  readonly to?: number | undefined;
};

/**
 * @param command - ends the program with a usage error for a bad URL or header
 * @returns undefined if no blocks of --l2 are read
 */
export function readNodeSource(
  values: NodeSourceValues,
  follow: boolean,
  command: Command,
): NodeSource | undefined {
  const options = unread(values) === undefined ? readNodes(values, "l2", command) : undefined;
  if (options === undefined) return undefined;
  const {subscriptions, ...nodes} = options;
  const {source, genesis: genesisPath, to} = values;
  return {kind: "node", source, nodes, surveyAfterMs: 0, subscriptions, genesisPath, follow, to};
}
