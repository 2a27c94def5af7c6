/** Flags of `proofd verify`: what was asked, the answer, and the root that is trusted. */
import type {Command} from "commander";
import type {NodesSettings} from "../../nodes/rpc/nodes.ts";
import {onSwitch, required, type ValuesOf, value} from "./flagTable.ts";
import {parseBlockNumber, parseHash, parseText} from "./flagValues.ts";
import {createNodeFlags, readNodes} from "./nodeFlags.ts";
import {ASKED_SUITE_FLAG, TRUSTED_ROLLUP_FLAG} from "./sharedFlags.ts";

/** What says which root is trusted. `block` is a block of layer 2. */
export type RootSource =
  | {readonly kind: "root"; readonly root: Uint8Array}
  | {readonly kind: "header"; readonly blockHash: Uint8Array; readonly path: string}
  | {readonly kind: "node"; readonly nodes: NodesSettings; readonly blockHash: Uint8Array}
  | {
      readonly kind: "l1";
      readonly nodes: NodesSettings;
      readonly contract: Uint8Array;
      readonly block: number;
    };

export const VERIFY_FLAGS = {
  request: required(
    value("<file>", parseText).says("what was asked: the JSON-RPC request, or a batch of them"),
  ),
  answer: value("<file>", parseText, "-").says(
    "the JSON-RPC response or the proof bytes; - reads standard input",
  ),
  root: value("<hash>", parseHash).says("trust this state root"),
  header: value("<file>", parseText).says(
    "for eth_getProof: trust the state root in this header of the block of --block-hash; its RLP, in hex, or debug_getRawHeader's response",
  ),
  ...createNodeFlags("node"),
  blockHash: value("<hash>", parseHash).says(
    "trust the block of this hash, for --header; or the state root that the proofd of --node has for it",
    "header | node",
  ),
  ...createNodeFlags("l1"),
  rollup: TRUSTED_ROLLUP_FLAG,
  block: value("<block>", parseBlockNumber).says("block of layer 2 for --rollup", "l1"),
  suite: ASKED_SUITE_FLAG,
  json: onSwitch("print one line of JSON"),
};

type VerifyValues = ValuesOf<typeof VERIFY_FLAGS>;

export interface VerifyOptions extends Pick<VerifyValues, "request" | "answer" | "suite" | "json"> {
  readonly root: RootSource;
}

/** @param command - ends the program with a usage error if not exactly one root is named */
export function readVerifyOptions(values: VerifyValues, command: Command): VerifyOptions {
  const {request, answer, suite, json} = values;
  if (request === "-" && answer === "-")
    command.error(
      "error: --request and --answer: expected a file for at least one, got standard input for both",
    );
  return {request, answer, suite, root: readRootSource(values, command), json};
}

function readRootSource(values: VerifyValues, command: Command): RootSource {
  const {root, header, blockHash, rollup, block} = values;
  const node = readNodes(values, "node", command);
  const layer1 = readNodes(values, "l1", command);
  if ([root, header, node, layer1].filter(source => source !== undefined).length !== 1)
    return command.error(
      "error: expected exactly one of --root, --header or --node with --block-hash, and --l1 with --rollup and --block",
    );
  if (header !== undefined) {
    if (blockHash === undefined) return command.error("error: --header needs --block-hash");
    return {kind: "header", blockHash, path: header};
  }
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
