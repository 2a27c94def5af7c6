/** Number and hash of a block that a node names: all that finality needs of a block. */
import {type Node, NodeFailure} from "../rpc/node.ts";
import {requireBytes, requireNumber, requireObject} from "./answerValues.ts";

export interface NamedBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/**
 * @param which - a number, or a tag such as "finalized"
 * @throws NodeFailure if the node does not have the block, NodeRefusal
 */
export async function readNamedBlock(
  node: Node,
  which: number | "finalized" | "latest",
): Promise<NamedBlock> {
  const selector = typeof which === "number" ? `0x${which.toString(16)}` : which;
  const answer = await node.request("eth_getBlockByNumber", [selector, false]);
  if ((answer ?? undefined) === undefined) throw new NodeFailure(`it has no block ${which}`);
  const block = requireObject(answer, `block ${which}`);
  const number = requireNumber(block.number, `the number of block ${which}`);
  if (typeof which === "number" && number !== which)
    throw new NodeFailure(`it answers with block ${number} when asked for ${which}`);
  return {number, hash: requireBytes(block.hash, 32, `the hash of block ${which}`)};
}
