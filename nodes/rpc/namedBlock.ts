/** Number and hashes of a block of a node: the latest, the finalized, or one by number. */
import {parseFixedBytes, parseNumber, parseObject} from "./answerValues.ts";
import {type Node, type NodeCall, NodeFailure} from "./node.ts";

export interface NamedBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes. */
  readonly parentHash: Uint8Array;
}

type Selector = number | "latest" | "finalized";

/** @returns undefined if the node has no such block. @throws NodeRefusal; NodeFailure, also for another block */
export async function findNamedBlock(node: Node, which: Selector): Promise<NamedBlock | undefined> {
  const {method, params} = callNamedBlock(which);
  return parseNamedBlock(await node.request(method, params), which);
}

export function callNamedBlock(which: Selector): NodeCall {
  const selector = typeof which === "number" ? `0x${which.toString(16)}` : which;
  return {method: "eth_getBlockByNumber", params: [selector, false]};
}

/** @returns undefined if the node has no such block. @throws NodeFailure */
export function parseNamedBlock(answer: unknown, which: Selector): NamedBlock | undefined {
  if ((answer ?? undefined) === undefined) return undefined;
  const where = typeof which === "number" ? `block ${which}` : `the ${which} block`;
  const block = parseObject(answer, where);
  const number = parseNumber(block.number, `${where}: number`);
  if (typeof which === "number" && number !== which)
    throw new NodeFailure(`asked for block ${which}, the node answers with block ${number}`);
  return {
    number,
    hash: parseFixedBytes(block.hash, `${where}: hash`, 32),
    parentHash: parseFixedBytes(block.parentHash, `${where}: parentHash`, 32),
  };
}

/** @throws NodeFailure with the message `lack` if the node does not have the block */
export async function readNamedBlock(
  node: Node,
  which: Selector,
  lack = `it has no block ${which}`,
): Promise<NamedBlock> {
  const block = await findNamedBlock(node, which);
  if (block === undefined) throw new NodeFailure(lack);
  return block;
}
