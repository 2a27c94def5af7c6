/** The trusted root of `proofd verify`: given, in a header, from a trusted proofd, or recorded on layer 1. */

import {ProofError} from "../../client/proof/proofError.ts";
import {check} from "../../client/proof/strictJson.ts";
import {verifyHeader} from "../../client/trie/blockHeader.ts";
import {readRecordedWord} from "../../nodes/finality/recordedWord.ts";
import {type Node, NodeFailure, NodeRefusal, orRefusal} from "../../nodes/rpc/node.ts";
import {Nodes, type NodesSettings} from "../../nodes/rpc/nodes.ts";
import {readProvenBlock} from "../../nodes/rpc/provenBlock.ts";
import {WorkError} from "../../server/lifecycle/workError.ts";
import {splitHeaders} from "../../storage/block/headerFile.ts";
import {toHex} from "../../storage/hex.ts";
import {RlpError} from "../../storage/rlp/rlpReader.ts";
import type {RootSource} from "../flags/verifyFlags.ts";
import {readInput} from "./inputFile.ts";

export interface TrustedRoot {
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** Its source, as the end of a sentence. */
  readonly by: string;
  /** What is known of the root's block. */
  readonly block: {readonly number?: number; readonly hash?: Uint8Array};
}

/** JSON-RPC: method not found. */
const NO_METHOD = -32601;
const ONLY_ENDS = "it holds those of blocks that ended a finalization";

/** Asks each node once. @param sent - a header from the response. @throws WorkError; ProofError for a wrong header */
export async function readTrustedRoot(source: RootSource, sent?: Uint8Array): Promise<TrustedRoot> {
  switch (source.kind) {
    case "root":
      return {root: source.root, by: "given by --root", block: {}};
    case "header": {
      const {blockHash} = source;
      const header = await readHeader(source.header, sent);
      check(
        header !== undefined,
        "answer",
        "has no header: expected --header FILE, or --node URL, with --block-hash",
      );
      return rootInHeader(blockHash, header, "");
    }
    case "node":
      return askOnce(source.nodes, "--node", async node => {
        const {number, hash, stateRoot, isFinalized} = await readProvenBlock(node, source.blockHash);
        const finality = isFinalized ? "finalized" : "not finalized";
        const by = `of block ${number} (${toHex(hash)}, ${finality}), as ${node.name} says`;
        return {root: stateRoot, by, block: {number, hash}};
      });
    case "l1": {
      const {contract, block} = source;
      const header = await readHeader(source.header, sent);
      const place = `as the contract ${toHex(contract)} holds it on layer 1`;
      return askOnce(source.nodes, "--l1", async node => {
        const [getter, what] =
          header === undefined
            ? (["stateRootHashes", "state root"] as const)
            : (["blockHashes", "hash"] as const);
        const word = await readRecordedWord(node, contract, getter, block);
        if (word === undefined)
          throw new WorkError(
            `the contract ${toHex(contract)} holds no ${what} of block ${block} in layer 1's finalized block: ` +
              (header === undefined ? await explainLack(node, contract, block) : ONLY_ENDS),
          );
        if (header !== undefined) return rootInHeader(word, header, `, ${place}`, block);
        return {root: word, by: `of block ${block}, ${place}`, block: {number: block}};
      });
    }
  }
}

async function readHeader(
  path: string | undefined,
  sent: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  if (path === undefined) return sent;
  const input = await readInput(path, "the header");
  try {
    return splitHeaders(input).at(-1);
  } catch (error) {
    if (error instanceof RlpError) throw new ProofError("header", error.message);
    throw error;
  }
}

/** @param by - the source of the hash, as the end of a sentence. @throws ProofError */
function rootInHeader(hash: Uint8Array, header: Uint8Array, by: string, block?: number): TrustedRoot {
  const {number, stateRoot} = verifyHeader(hash, header);
  const rule = () => `expected that of block ${block}, got that of block ${number}`;
  check(block === undefined || number === BigInt(block), "header", rule);
  return {
    root: stateRoot,
    by: `in the header of block ${number} (${toHex(hash)})${by}`,
    block: {number: Number(number), hash},
  };
}

async function explainLack(node: Node, contract: Uint8Array, block: number): Promise<string> {
  try {
    const hash = await readRecordedWord(node, contract, "blockHashes", block);
    if (hash !== undefined)
      return (
        "it holds the block's hash. A proofd of your own has its root, and its header that of Ethereum's state trie: " +
        `--header FILE, or --node URL --block-hash ${toHex(hash)}`
      );
  } catch (error) {
    // Most contracts do not have this getter.
    if (!(error instanceof NodeRefusal || error instanceof NodeFailure)) throw error;
  }
  return `${ONLY_ENDS} (chain_getFinalizations lists them)`;
}

/** Asks the nodes in order until one responds. @throws WorkError; what the work throws */
async function askOnce<Result>(
  settings: NodesSettings,
  flag: string,
  work: (node: Node) => Promise<Result>,
): Promise<Result> {
  const failures = new Map<string, string>();
  const giveUp = new AbortController();
  const nodes = new Nodes(settings, ({name, state, reason}) => {
    if (state === "up") return;
    failures.set(name, `${name}: ${reason}`);
    if (failures.size === settings.urls.length)
      giveUp.abort(new WorkError(`no useful answer from ${flag}: ${[...failures.values()].join("; ")}`));
  });
  const answer = await orRefusal(nodes.use(work, giveUp.signal)).finally(() => nodes.close());
  if (!(answer instanceof NodeRefusal)) return answer;
  const hint =
    answer.code === NO_METHOD && flag === "--node"
      ? ". --node: expected a proofd, since the header of a block has the root of Ethereum's trie, not that of these proofs"
      : "";
  throw new WorkError(`${answer.message}${hint}`, {cause: answer});
}
