/** Flags of `proofd serve` that say what tells which blocks are finalized. */
import type {Command, OptionValues} from "commander";
import type {FinalityOptions} from "../../service/serviceOptions.ts";
import {integerParser, parseAddress, parseBlockNumber} from "./flag.ts";
import {idleWhen, type ValuesOf, value} from "./flagTable.ts";
import {createNodeFlags, type NodeOptions} from "./nodeFlags.ts";

const SOURCES = ["l1", "tag"] as const;
const ROOTS = ["header", "suite", "none"] as const;
/** Time between two questions for new finality: that of a block of layer 1. */
const POLL_MS = 12_000;
const MAX_DEPTH = 1_000_000;
const NO_SOURCE = "without --finality or --l1";

export const FINALITY_FLAGS = {
  ...idleWhen(
    ({finality}) => (finality === "tag" ? "with --finality tag" : undefined),
    createNodeFlags("l1"),
  ),
  finality: value("<source>", SOURCES).says(
    "what tells which blocks are finalized: events on layer 1 (l1, the default with --l1) or the finalized tag of --l2 (tag)",
  ),
  ...idleWhen(values => (sourceOf(values) === undefined ? NO_SOURCE : undefined), {
    ...idleWhen(values => (sourceOf(values) === "tag" ? "with --finality tag" : undefined), {
      rollup: value("<address>", parseAddress).says(
        "rollup contract on layer 1 whose events tell what is finalized",
      ),
      l1From: value("<block>", parseBlockNumber).says(
        "first layer-1 block whose events are read; default: that of the contract's deployment. Another one than before begins finality again",
      ),
      l1Depth: value("<blocks>", integerParser(0, MAX_DEPTH)).says(
        "read layer-1 blocks with this many above them; default: those that layer 1 calls finalized",
      ),
      l1Root: value("<root>", ROOTS).says(
        "which root of a block the contract holds: that of its header, that of the hash suite's trees, or none that can be compared; default: found by the first event",
      ),
    }),
  }),
};

function sourceOf({finality, l1}: OptionValues): (typeof SOURCES)[number] | undefined {
  return finality ?? (l1 === undefined ? undefined : "l1");
}

/**
 * @param layer1, layer2 - the nodes of --l1 and --l2
 * @param command - ends the program with a usage error for flags that are missing
 * @returns undefined: nothing but imports and orders tells what is finalized
 */
export function readFinality(
  values: ValuesOf<typeof FINALITY_FLAGS>,
  layer1: NodeOptions | undefined,
  layer2: NodeOptions | undefined,
  command: Command,
): FinalityOptions | undefined {
  const {rollup: contract, l1From: from, l1Depth: depth, l1Root: root} = values;
  const source = sourceOf(values);
  switch (source) {
    case undefined:
      return undefined;
    case "l1":
      if (layer1 === undefined) return command.error("error: --finality l1 needs --l1");
      if (contract === undefined) return command.error("error: --l1 needs --rollup, the contract's address");
      return {source, nodes: layer1, layer2, rollup: {contract, from, depth, root}, pollMs: POLL_MS};
    case "tag":
      if (layer2 === undefined) return command.error("error: --finality tag needs --l2");
      return {source, nodes: layer2, pollMs: POLL_MS};
  }
}
