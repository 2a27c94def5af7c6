/** Finds the block in which a contract was deployed, so that earlier blocks need not be searched for its events. */
import {toHex} from "../../storage/hex.ts";
import {Contradiction, type Node, NodeFailure, NodeRefusal} from "../rpc/node.ts";

/**
 * Bisects eth_getCode: 24 calls for 16 million blocks.
 *
 * @param contract - 20 bytes
 * @param head - the newest final block
 * @returns the first block after which the contract has code; 0 if the node does not have the state of old blocks
 * @throws Contradiction if the contract has no code at `head`, NodeFailure
 */
export async function findDeployment(node: Node, contract: Uint8Array, head: number): Promise<number> {
  if (!(await hasCode(node, contract, head)))
    throw new Contradiction(
      `${toHex(contract)} has no code at layer-1 block ${head}: expected the rollup contract`,
    );
  try {
    let low = 0;
    let high = head;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await hasCode(node, contract, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  } catch (error) {
    if (error instanceof NodeRefusal) return 0;
    throw error;
  }
}

async function hasCode(node: Node, contract: Uint8Array, block: number): Promise<boolean> {
  const code = await node.request("eth_getCode", [toHex(contract), `0x${block.toString(16)}`]);
  if (typeof code !== "string" || !code.startsWith("0x"))
    throw new NodeFailure(`its response to eth_getCode is not 0x hex`);
  return code.length > 2;
}
