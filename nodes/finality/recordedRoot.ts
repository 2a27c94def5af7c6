/** The state root that the rollup contract on layer 1 holds for a block: `stateRootHashes(block)`. */
import {toHex} from "../../storage/hex.ts";
import {parseFixedBytes} from "../rpc/answerValues.ts";
import {type Node, NodeFailure} from "../rpc/node.ts";

/** The first 4 bytes of keccak256 of stateRootHashes(uint256). */
const SELECTOR = "0x8be745d1";
const WORD_BYTES = 32;

/**
 * Asks at the block that layer 1 calls finalized.
 *
 * @param contract - 20 bytes
 * @returns 32 bytes; undefined if the contract has no root for the block
 * @throws NodeRefusal, NodeFailure
 */
export async function readRecordedRoot(
  node: Node,
  contract: Uint8Array,
  block: number,
): Promise<Uint8Array | undefined> {
  const word = block.toString(16).padStart(2 * WORD_BYTES, "0");
  const call = {to: toHex(contract), data: SELECTOR + word};
  const answer = await node.request("eth_call", [call, "finalized"]);
  if (answer === "0x")
    throw new NodeFailure(
      `it has no contract with stateRootHashes(uint256) at ${toHex(contract)} in its finalized block`,
    );
  const root = parseFixedBytes(answer, `stateRootHashes(${block})`, WORD_BYTES);
  return root.every(byte => byte === 0) ? undefined : root;
}
