/** Consecutive blocks from one node, each linked to its parent by hash. */
import {toHex} from "../../storage/hex.ts";
import {type JsonObject, parseObject} from "../rpc/answerValues.ts";
import {type Node, NodeFailure} from "../rpc/node.ts";
import {type NodeHeader, readNodeHeaders} from "./nodeHeader.ts";

/**
 * @param parse - takes a response of eth_getBlockByNumber (with transactions if `isFull`) and the block's header
 * @returns blocks from `from` on, fewer if the node does not have the rest yet
 * @throws NodeFailure if they are not linked; what `parse` throws
 */
export async function readLinkedBlocks<Block extends {readonly header: NodeHeader}>(
  node: Node,
  from: number,
  to: number,
  isFull: boolean,
  parse: (block: JsonObject, header: NodeHeader) => Block,
): Promise<Block[]> {
  const calls = Array.from({length: to - from + 1}, (_, position) => ({
    method: "eth_getBlockByNumber",
    params: [hexQuantity(from + position), isFull],
  }));
  const answers = await node.requestAll(calls);
  const missing = answers.findIndex(answer => (answer ?? undefined) === undefined);
  const found = (missing < 0 ? answers : answers.slice(0, missing)).map((answer, position) =>
    parseObject(answer, `block ${from + position}`),
  );
  const blocks: Block[] = [];
  for (const [position, header] of (await readNodeHeaders(node, found, from)).entries()) {
    const block = parse(found[position] as JsonObject, header);
    const parent = blocks.at(-1)?.header;
    const {number, parentHash} = header;
    if (parent !== undefined && Buffer.compare(parent.hash, parentHash) !== 0)
      throw new NodeFailure(
        `block ${number} has the parent ${toHex(parentHash)}, but block ${parent.number} is ${toHex(parent.hash)}`,
      );
    blocks.push(block);
  }
  return blocks;
}

export function hexQuantity(number: number): string {
  return `0x${number.toString(16)}`;
}
