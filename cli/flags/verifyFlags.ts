/** Flags of `proofd verify`: the answer, the root that is trusted, and what was asked. A flag that has no effect is refused. */
import {type Command, InvalidArgumentError, type Option} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES, type SuiteName} from "../../storage/hash/suiteNames.ts";
import type {NodesSettings} from "../../sync/rpc/nodes.ts";
import {refuseIdle} from "./estimateFlags.ts";
import {createOption, createSwitch, parseAddress, parseBlockNumber, parseHash, parseText} from "./flag.ts";
import {createNodeOptions, type NodeFlags, readNodes} from "./nodeFlags.ts";

export interface VerifyOptions {
  /** Path of the answer; - is standard input. */
  readonly answer: string;
  readonly suite: SuiteName;
  readonly root: RootSource;
  readonly request: RequestSource;
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

/** What was asked: the path of a file that says it; or 0x text, of which the answer may say what is undefined. */
export type RequestSource =
  | {readonly path: string}
  | {readonly address: string | undefined; readonly keys: readonly string[] | undefined};

/** Values of the flags below, as commander names them. */
export interface VerifyFlags extends NodeFlags {
  readonly answer: string;
  readonly suite: SuiteName;
  readonly root?: Uint8Array;
  readonly blockHash?: Uint8Array;
  readonly rollup?: Uint8Array;
  readonly block?: number;
  readonly address?: string;
  readonly keys?: readonly string[];
  readonly request?: string;
  readonly json?: boolean;
}

export function createVerifyOptions(): Option[] {
  return [
    createOption("--answer <file>", "the answer or the proof bytes; - reads standard input")
      .argParser(parseText)
      .default("-"),
    createRootOption(),
    ...createNodeOptions("node"),
    createHashOption(),
    ...createNodeOptions("l1"),
    ...createRecordOptions(),
    ...createAskedOptions(),
    createOption(
      "--request <file>",
      "what was asked, where flags are too short: the JSON-RPC request, or the entries of chain_getMultiProof",
    ).argParser(parseText),
    createOption("--suite <name>", "hash suite of the chain's trees, which chain_getCoverage names")
      .choices(SUITE_NAMES)
      .default(DEFAULT_SUITE_NAME),
    createSwitch("--json", "print one line of JSON"),
  ];
}

/** @param command - ends the program with a usage error if not exactly one root is named, or a flag has no effect */
export function readVerifyOptions(flags: VerifyFlags, command: Command): VerifyOptions {
  const {answer, suite, address, keys, request, json} = flags;
  if (request !== undefined) refuseIdle(createAskedOptions(), command, "with --request");
  if (request === "-" && answer === "-")
    command.error("error: --request and --answer are both standard input: expected a file for one of them");
  return {
    answer,
    suite,
    root: readRootSource(flags, command),
    request: request === undefined ? {address, keys} : {path: request},
    json: json === true,
  };
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

/** Is it 0x and 40 hex digits? */
export function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value);
}

/** Is it 0x and 1 to 64 hex digits? */
export function isKey(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value);
}

function createRootOption(): Option {
  return createOption(
    "--root <hash>",
    "trust this root: a state root, or a storageRoot for bytes that begin with 0x02",
  ).argParser(parseHash);
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

/** What was asked, if it was one account. */
function createAskedOptions(): Option[] {
  return [
    createOption("--address <address>", "account that was asked for; default: that of the answer").argParser(
      parseAddressText,
    ),
    createOption(
      "--keys <keys>",
      "storage keys that were asked for, with commas between; default: those of the answer",
    ).argParser(parseKeys),
  ];
}

function parseAddressText(text: string): string {
  parseAddress(text);
  return text;
}

function parseKeys(text: string): readonly string[] {
  const keys = text.split(",").map(key => key.trim());
  if (keys.every(isKey)) return keys;
  throw new InvalidArgumentError(
    "Expected storage keys with commas between, each 0x and 1 to 64 hex digits.",
  );
}
