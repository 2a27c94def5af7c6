/** The one block that a pull is about. */
import {type BlockName, blockNumber} from "../methods/askedBlock.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {provableTag} from "../methods/proofMethods.ts";

/**
 * @param block - undefined: the cursor's, or the newest finalized one
 * @param cursorBlock - of the cursor, if there is one
 * @throws TypeError if a block is named and is not the cursor's; RpcError
 */
export async function findBlock(
  client: Pick<ProofClient, "getStateRoot">,
  block: BlockName | undefined,
  cursorBlock: bigint | undefined,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const number = blockNumber(block ?? "finalized");
  if (cursorBlock !== undefined) {
    if (block === undefined || number === cursorBlock) return cursorBlock;
    throw new TypeError(`expected block ${cursorBlock} as in the cursor, got ${block}`);
  }
  if (number !== undefined) return number;
  const tag = provableTag(block ?? "finalized");
  return (await client.getStateRoot({block: tag, signal})).number;
}
