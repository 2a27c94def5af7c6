/** Flags of `proofd verify`: what was asked, the answer, and the root that is trusted. A flag that has no effect is refused. */
import type {Command, Option} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES, type SuiteName} from "../../storage/hash/suiteNames.ts";
import type {NodesSettings} from "../../sync/rpc/nodes.ts";
import {refuseIdle} from "./estimateFlags.ts";
import {createOption, createSwitch, parseAddress, parseBlockNumber, parseHash, parseText} from "./flag.ts";
import {createNodeOptions, type NodeFlags, readNodes} from "./nodeFlags.ts";

export interface VerifyOptions {
  /** Path of the JSON-RPC request. */
  readonly request: string;
  /** Path of the answer; - is standard input. */
  readonly answer: string;
  readonly suite: SuiteName;
  readonly root: RootSource;
  readonly json: boolean;
}

/** What says which root is trusted. `block` is a block of layer 2. */
export type RootSource =
  | {readonly kind: "root"; readonly root: Uint8Array}
  | {readonly kind: "node"; readonly nodes: NodesSettings; readonly blockHash: Uint8Array}
  | {
      readonly kind: "l1";
      readonly nodes: NodesSettings;
      readonly contract: Uint8Array;
      readonly block: number;
    };

/** Values of the flags below, as commander names them. */
export interface VerifyFlags extends NodeFlags {
  readonly request: string;
  readonly answer: string;
  readonly suite: SuiteName;
  readonly root?: Uint8Array;
  readonly blockHash?: Uint8Array;
  readonly rollup?: Uint8Array;
  readonly block?: number;
  readonly json?: boolean;
}

export function createVerifyOptions(): Option[] {
  return [
    createOption("--request <file>", "what was asked: the JSON-RPC request, or a batch of them")
      .argParser(parseText)
      .makeOptionMandatory(),
    createOption("--answer <file>", "the JSON-RPC response or the proof bytes; - reads standard input")
      .argParser(parseText)
      .default("-"),
    createRootOption(),
    ...createNodeOptions("node"),
    createHashOption(),
    ...createNodeOptions("l1"),
    ...createRecordOptions(),
    createOption("--suite <name>", "hash suite of the chain's trees, which chain_getCoverage names")
      .choices(SUITE_NAMES)
      .default(DEFAULT_SUITE_NAME),
    createSwitch("--json", "print one line of JSON"),
  ];
}

/** @param command - ends the program with a usage error if not exactly one root is named, or a flag has no effect */
export function readVerifyOptions(flags: VerifyFlags, command: Command): VerifyOptions {
  const {request, answer, suite, json} = flags;
  if (request === "-" && answer === "-")
    command.error("error: --request and --answer are both standard input: expected a file for one of them");
  return {request, answer, suite, root: readRootSource(flags, command), json: json === true};
}

function readRootSource(flags: VerifyFlags, command: Command): RootSource {
  const {root, blockHash, rollup, block} = flags;
  const node = readNodes(flags, "node", command);
  const layer1 = readNodes(flags, "l1", command);
  if ([root, node, layer1].filter(source => source !== undefined).length !== 1)
    return command.error(
      "error: expected exactly one of --root, --node with --block-hash, and --l1 with --rollup and --block",
    );
  if (node === undefined) refuseIdle([createHashOption()], command, "without --node");
  if (layer1 === undefined) refuseIdle(createRecordOptions(), command, "without --l1");
  if (node !== undefined) {
    if (blockHash === undefined) return command.error("error: --node needs --block-hash");
    return {kind: "node", nodes: node, blockHash};
  }
  if (layer1 !== undefined) {
    if (rollup === undefined || block === undefined)
      return command.error("error: --l1 needs --rollup, the contract's address, and --block");
    return {kind: "l1", nodes: layer1, contract: rollup, block};
  }
  return {kind: "root", root: root as Uint8Array};
}

function createRootOption(): Option {
  return createOption("--root <hash>", "trust this state root").argParser(parseHash);
}

function createHashOption(): Option {
  return createOption(
    "--block-hash <hash>",
    "trust the state root that the proofd of --node has for the block of this hash",
  ).argParser(parseHash);
}

function createRecordOptions(): Option[] {
  return [
    createOption(
      "--rollup <address>",
      "rollup contract on layer 1 whose stateRootHashes(block) is trusted, as of layer 1's finalized block",
    ).argParser(parseAddress),
    createOption("--block <block>", "block of layer 2 for --rollup").argParser(parseBlockNumber),
  ];
}
