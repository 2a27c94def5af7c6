/** Flags of `proofd verify`: the request, the response, and the trusted root. */
import type {Command} from "commander";
import type {NodesSettings} from "../../nodes/rpc/nodes.ts";
import {DEFAULT_SUITE_NAME, STORE_SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {HARDFORKS} from "../../workers/messages/estimateSettings.ts";
import {onSwitch, required, type ValuesOf, value} from "./flagTable.ts";
import {parseBlockNumber, parseChainId, parseHash, parseText} from "./flagValues.ts";
import {createNodeFlags, readNodes} from "./nodeFlags.ts";
import {TRUSTED_ROLLUP_FLAG} from "./sharedFlags.ts";

/** Where the trusted root comes from. `header` is the path of the block's header, unless the response has it. */
export type RootSource =
  | {readonly kind: "root"; readonly root: Uint8Array}
  | {readonly kind: "header"; readonly blockHash: Uint8Array; readonly header: string | undefined}
  | {readonly kind: "node"; readonly nodes: NodesSettings; readonly blockHash: Uint8Array}
  | {
      readonly kind: "l1";
      readonly nodes: NodesSettings;
      readonly contract: Uint8Array;
      readonly block: number;
      readonly header?: string | undefined;
    };

export const VERIFY_FLAGS = {
  request: required(value("<file>", parseText).says("the JSON-RPC request or batch")),
  answer: value("<file>", parseText, "-").says(
    "the JSON-RPC response, or the proof bytes; - reads standard input",
  ),
  root: value("<hash>", parseHash).says("trust this state root"),
  header: value("<file>", parseText).says(
    "for Ethereum's state trie: the header of the trusted block, if the response does not have it, as RLP, hex, the response of debug_getRawHeader, or blocks of `geth export` up to it",
    "block-hash | l1, !node",
  ),
  ...createNodeFlags("node"),
  blockHash: value("<hash>", parseHash).says(
    "trust the block with this hash, whose header is in the response or in --header; or the state root that --node has for it",
  ),
  ...createNodeFlags("l1"),
  rollup: TRUSTED_ROLLUP_FLAG,
  block: value("<block>", parseBlockNumber).says("layer-2 block for --rollup", "l1"),
  suite: value("<name>", STORE_SUITE_NAMES, DEFAULT_SUITE_NAME).says(
    "hash suite of the server's trees, as in chain_getCoverage; not needed for eth_getProof and calls with the suite keccak",
  ),
  chainId: value("<id>", parseChainId).says(
    "for proof_call: the chain id; without it, a call that reads it is refused",
  ),
  hardfork: value("<name>", HARDFORKS).says(
    "for proof_call: the rules of the block; default: by the header with the trusted hash, otherwise osaka",
  ),
  json: onSwitch("print one line of JSON"),
};

type VerifyValues = ValuesOf<typeof VERIFY_FLAGS>;

export interface VerifyOptions
  extends Pick<VerifyValues, "request" | "answer" | "suite" | "chainId" | "hardfork" | "json"> {
  readonly root: RootSource;
}

export function readVerifyOptions(values: VerifyValues, command: Command): VerifyOptions {
  const {request, answer, suite, chainId, hardfork, json} = values;
  if (request === "-" && answer === "-")
    command.error(
      "error: --request and --answer: expected a file for at least one, got standard input for both",
    );
  return {request, answer, suite, chainId, hardfork, root: readRootSource(values, command), json};
}

function readRootSource(values: VerifyValues, command: Command): RootSource {
  const {root, header, blockHash, rollup, block} = values;
  const node = readNodes(values, "node", command);
  const layer1 = readNodes(values, "l1", command);
  const hash = node === undefined ? blockHash : undefined;
  if ([root, hash, node, layer1].filter(source => source !== undefined).length !== 1)
    return command.error(
      "error: expected exactly one of --root, --block-hash alone or with --header or --node, and --l1 with --rollup and --block",
    );
  if (hash !== undefined) return {kind: "header", blockHash: hash, header};
  if (node !== undefined) {
    if (blockHash === undefined) return command.error("error: --node needs --block-hash");
    return {kind: "node", nodes: node, blockHash};
  }
  if (layer1 !== undefined) {
    if (rollup === undefined || block === undefined)
      return command.error("error: --l1 needs --rollup, the contract's address, and --block");
    return {kind: "l1", nodes: layer1, contract: rollup, block, header};
  }
  return {kind: "root", root: root as Uint8Array};
}
