/** eth_getProof of a node. Its nodes are compared with the header's state root when they are stored, and not here. */
import {parseArray, parseBytes, parseFixedBytes, parseObject} from "../../rpc/answerValues.ts";
import type {NodeCall} from "../../rpc/node.ts";

/** A branch with 16 hashes has 532 bytes. */
const MAX_NODE_BYTES = 600;
/** A branch for each nibble of a hash, and a leaf. */
const MAX_NODES = 65;

export interface NodeProof {
  /** RLP of the nodes from the state root down. */
  readonly account: readonly Uint8Array[];
  /** 32 bytes. */
  readonly storageHash: Uint8Array;
  /** For each slot asked for, in their order: RLP of the nodes from the storage root down. */
  readonly slots: readonly (readonly Uint8Array[])[];
}

/** @param address, slots - 0x text. @param block - a quantity or a tag */
export function proofCall(address: string, slots: readonly string[], block: string): NodeCall {
  return {method: "eth_getProof", params: [address, slots, block]};
}

/** @param slots - how many were asked for. @param where - names the answer in messages. @throws NodeFailure */
export function parseNodeProof(answer: unknown, slots: number, where: string): NodeProof {
  const {accountProof, storageHash, storageProof} = parseObject(answer, where);
  // geth has null for the proof in an empty trie.
  const proofs = parseArray(storageProof ?? [], `${where}: storageProof`);
  return {
    account: parseNodes(accountProof ?? [], `${where}: accountProof`),
    storageHash: parseFixedBytes(storageHash, `${where}: storageHash`, 32),
    slots: Array.from({length: slots}, (_, i) => {
      const {proof} = parseObject(proofs[i], `${where}: storageProof ${i}`);
      return parseNodes(proof ?? [], `${where}: storageProof ${i}: proof`);
    }),
  };
}

function parseNodes(value: unknown, field: string): Uint8Array[] {
  return parseArray(value, field)
    .slice(0, MAX_NODES)
    .map((node, i) => new Uint8Array(parseBytes(node, `${field}, node ${i}`, MAX_NODE_BYTES)));
}
