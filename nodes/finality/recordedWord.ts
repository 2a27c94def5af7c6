/** What the rollup contract on layer 1 records for a block. */
import {toHex} from "../../storage/hex.ts";
import {parseFixedBytes} from "../rpc/answerValues.ts";
import {type Node, NodeFailure} from "../rpc/node.ts";

/** Selectors of stateRootHashes(uint256), and of blockHashes(uint256) since DataFinalizedV4. */
const SELECTORS = {stateRootHashes: "0x8be745d1", blockHashes: "0x34cdf78d"} as const;
const WORD_BYTES = 32;

/** @returns 32 bytes as of the finalized block; undefined if the contract has none. @throws NodeRefusal, NodeFailure */
export async function readRecordedWord(
  node: Node,
  contract: Uint8Array,
  getter: keyof typeof SELECTORS,
  block: number,
): Promise<Uint8Array | undefined> {
  const argument = block.toString(16).padStart(2 * WORD_BYTES, "0");
  const call = {to: toHex(contract), data: SELECTORS[getter] + argument};
  const answer = await node.request("eth_call", [call, "finalized"]);
  if (answer === "0x")
    throw new NodeFailure(
      `it has no contract with ${getter}(uint256) at ${toHex(contract)} in its finalized block`,
    );
  const word = parseFixedBytes(answer, `${getter}(${block})`, WORD_BYTES);
  return word.every(byte => byte === 0) ? undefined : word;
}
