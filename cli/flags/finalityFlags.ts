/** Flags of `proofd serve` that say what tells which blocks are finalized. A flag that has no effect is refused. */
import type {Command, Option} from "commander";
import type {FinalityOptions} from "../../service/serviceOptions.ts";
import {refuseIdle} from "./estimateFlags.ts";
import {createOption, integerParser, parseAddress, parseBlockNumber} from "./flag.ts";
import type {NodeOptions} from "./nodeFlags.ts";

const SOURCES = ["l1", "tag"] as const;
const ROOTS = ["header", "suite", "none"] as const;

/** Values of the flags below, as commander names them. */
export interface FinalityFlags {
  readonly finality?: (typeof SOURCES)[number];
  readonly finalityPoll?: number;
  readonly rollup?: Uint8Array;
  readonly l1From?: number;
  readonly l1Depth?: number;
  readonly l1Root?: (typeof ROOTS)[number];
}

/** A block of layer 1. */
const POLL_MS = 12_000;
const MAX_DEPTH = 1_000_000;

export function createFinalityOptions(): Option[] {
  return [createSourceOption(), createPollOption(), ...createLayer1Options()];
}

/**
 * @param layer1, layer2 - the nodes of --l1 and --l2
 * @param command - ends the program with a usage error for flags that are missing or have no effect
 * @returns undefined: nothing but imports and orders tells what is finalized
 */
export function readFinality(
  flags: FinalityFlags,
  layer1: NodeOptions | undefined,
  layer2: NodeOptions | undefined,
  command: Command,
): FinalityOptions | undefined {
  const source = flags.finality ?? (layer1 === undefined ? undefined : "l1");
  const company = source === undefined ? "without --finality or --l1" : `with --finality ${source}`;
  if (source !== "l1") refuseIdle(createLayer1Options(), command, company);
  if (source === undefined) refuseIdle([createPollOption()], command, company);
  const {finalityPoll: pollMs = POLL_MS} = flags;
  switch (source) {
    case undefined:
      return undefined;
    case "l1": {
      const contract = flags.rollup;
      if (layer1 === undefined) return command.error("error: --finality l1 needs --l1");
      if (contract === undefined) return command.error("error: --l1 needs --rollup, the contract's address");
      const rollup = {contract, from: flags.l1From, depth: flags.l1Depth, root: flags.l1Root};
      return {source, nodes: layer1, layer2, rollup, pollMs};
    }
    case "tag":
      if (layer2 === undefined) return command.error("error: --finality tag needs --l2");
      return {source, nodes: layer2, pollMs};
  }
}

function createSourceOption(): Option {
  return createOption(
    "--finality <source>",
    "what tells which blocks are finalized: events on layer 1 (l1, the default with --l1) or the finalized tag of --l2 (tag)",
  ).choices(SOURCES);
}

function createPollOption(): Option {
  return createOption(
    "--finality-poll <ms>",
    `time between two questions for new finality (default: ${POLL_MS})`,
  ).argParser(integerParser(100, 3_600_000));
}

/** The flags that only --finality l1 uses. */
function createLayer1Options(): Option[] {
  return [
    createOption(
      "--rollup <address>",
      "rollup contract on layer 1 whose events tell what is finalized",
    ).argParser(parseAddress),
    createOption(
      "--l1-from <block>",
      "first layer-1 block whose events are read; default: that of the contract's deployment. Another one than before begins finality again",
    ).argParser(parseBlockNumber),
    createOption(
      "--l1-depth <blocks>",
      "read layer-1 blocks with this many above them; default: those that layer 1 calls finalized",
    ).argParser(integerParser(0, MAX_DEPTH)),
    createOption(
      "--l1-root <root>",
      "which root of a block the contract holds: that of its header, that of the hash suite's trees, or none that can be compared; default: found by the first event",
    ).choices(ROOTS),
  ];
}
