/** The state root of a block from another proofd: `chain_getStateRoot`. */
import {parseFixedBytes, parseNumber, parseObject} from "./answerValues.ts";
import {type Node, NodeFailure} from "./node.ts";

/** @param hash - 32 bytes. @throws NodeRefusal, also if the node has no such block; NodeFailure for another block */
export async function readProvenBlock(node: Node, hash: Uint8Array) {
  const text = `0x${Buffer.from(hash).toString("hex")}`;
  const answer = await node.request("chain_getStateRoot", [{blockHash: text}]);
  const where = `block ${text}`;
  const block = parseObject(answer, where);
  const found = parseFixedBytes(block.hash, `${where}: hash`, 32);
  if (Buffer.compare(found, hash) !== 0)
    throw new NodeFailure(`expected ${where}, got block 0x${found.toString("hex")}`);
  return {
    number: parseNumber(block.number, `${where}: number`),
    hash: found,
    /** The root of proofd's account tree, not that of the block's header. */
    stateRoot: parseFixedBytes(block.stateRoot, `${where}: stateRoot`, 32),
    isFinalized: block.finalized === true,
  };
}
