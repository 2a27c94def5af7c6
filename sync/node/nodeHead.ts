/** A block's number and hashes as a node names them, without the block: the node's head, and what it holds at a number. */
import {type Node, NodeFailure} from "../rpc/node.ts";

export interface NodeHead {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes. */
  readonly parentHash: Uint8Array;
}

/**
 * @param at - a block number, or the newest block
 * @returns undefined if the node has no such block yet
 * @throws NodeRefusal; NodeFailure, also if the answer is no block or another block
 */
export async function readNodeHead(node: Node, at: number | "latest"): Promise<NodeHead | undefined> {
  const where = at === "latest" ? "the newest block" : `block ${at}`;
  const tag = at === "latest" ? at : `0x${at.toString(16)}`;
  const block = (await node.request("eth_getBlockByNumber", [tag, false])) ?? undefined;
  if (block === undefined) return undefined;
  if (typeof block !== "object") throw garbage(node, where, "is no object");
  const {number, hash, parentHash} = block as Readonly<Record<string, unknown>>;
  if (typeof number !== "string" || !/^0x[0-9a-f]{1,12}$/i.test(number))
    throw garbage(node, where, "has no number");
  if (at !== "latest" && Number(number) !== at) throw garbage(node, where, `is block ${Number(number)}`);
  return {
    number: Number(number),
    hash: parseHash(hash, () => garbage(node, where, "has no hash")),
    parentHash: parseHash(parentHash, () => garbage(node, where, "has no parentHash")),
  };
}

function parseHash(value: unknown, refuse: () => NodeFailure): Uint8Array {
  if (typeof value !== "string" || !/^0x[0-9a-f]{64}$/i.test(value)) throw refuse();
  return Buffer.from(value.slice(2), "hex");
}

function garbage(node: Node, where: string, what: string): NodeFailure {
  return new NodeFailure(`${node.name}: eth_getBlockByNumber: its answer for ${where} ${what}`);
}
