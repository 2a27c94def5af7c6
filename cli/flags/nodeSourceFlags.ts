/** Flags that make a layer-2 node the source of blocks: those of nodeFlags.ts, and how its blocks are read. */
import type {Command, Option} from "commander";
import {NODE_SOURCES, type NodeSource, type NodeSourceName} from "../../workers/job/importSource.ts";
import {refuseIdle} from "./estimateFlags.ts";
import {createOption, integerParser, parseBlockNumber} from "./flag.ts";
import {createNodeOptions, type NodeFlags, readNodes} from "./nodeFlags.ts";

/** Values of the flags below, as commander names them. */
export interface NodeSourceFlags extends NodeFlags {
  readonly genesis?: string;
  readonly source?: NodeSourceName;
  readonly audit?: number;
  readonly to?: number;
}

const DEFAULT_AUDIT = 16;
const MAX_AUDIT = 1000;

export function createNodeSourceOptions(): Option[] {
  return [...createNodeOptions("l2"), createSourceOption(), createAuditOption()];
}

/** Only for `proofd import`, which ends. */
export function createToOption(): Option {
  return createOption(
    "--to <block>",
    "last block to import from --l2 (default: the node's newest one at the start)",
  ).argParser(parseBlockNumber);
}

function createSourceOption(): Option {
  return createOption(
    "--source <name>",
    "how blocks of --l2 are read (default: what the store and the node can do)",
  ).choices(NODE_SOURCES);
}

function createAuditOption(): Option {
  return createOption(
    "--audit <count>",
    `accounts, and slots, that are compared with the node after a range of blocks that was not executed here; 0 compares none (default: ${DEFAULT_AUDIT})`,
  ).argParser(integerParser(0, MAX_AUDIT));
}

/** Ends the program with a usage error if a flag was given that says how blocks of --l2 are read. @param company - see refuseIdle */
export function refuseReading(command: Command, company: string): void {
  refuseIdle([createSourceOption(), createAuditOption(), createToOption()], command, company);
}

/**
 * @param others - values of the flags that name another source, by attribute
 * @param command - ends the program with a usage error for flags that exclude each other
 * @returns undefined without --l2
 */
export function readNodeSource(
  flags: NodeSourceFlags,
  others: Readonly<Record<string, unknown>>,
  follow: boolean,
  command: Command,
): NodeSource | undefined {
  const options = readNodes(flags, "l2", command);
  if (options === undefined) {
    refuseReading(command, "without --l2");
    return undefined;
  }
  if (flags.source === "execute") refuseIdle([createAuditOption()], command, "with --source execute");
  for (const [name, value] of Object.entries(others))
    if (value !== undefined) command.error(`error: --l2 and --${name} cannot be used together`);
  const {subscriptions, ...nodes} = options;
  return {
    kind: "node",
    source: flags.source,
    nodes,
    surveyAfterMs: 0,
    subscriptions,
    genesisPath: flags.genesis,
    follow,
    audit: flags.audit ?? DEFAULT_AUDIT,
    to: flags.to,
  };
}
