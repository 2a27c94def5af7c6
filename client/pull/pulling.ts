/** What all pulls have in common: their parameters, and the one block that they are about. */
import {type Abortable, type BlockName, blockNumber} from "../methods/askedBlock.ts";
import {MAX_MS, requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {provableTag} from "../methods/proofMethods.ts";

export interface PullingParameters extends Abortable {
  /** Continues after the item that had this `cursor`. All other parameters but `block` must be the same. */
  readonly cursor?: string | undefined;
  /** Answers that are requested or buffered at a time: this bounds the memory. Default: 4; of pullChanges: 2. */
  readonly ahead?: number | undefined;
  /** How long a request is retried while the server is busy or away. Default: 30 000. 0: no retries. */
  readonly retryMs?: number | undefined;
}

export function requirePulling(ahead: number, retryMs: number): void {
  requireWhole("ahead", ahead, 1, 1024);
  requireWhole("retryMs", retryMs, 0, MAX_MS);
}

/** @param block - undefined: the cursor's, or the newest finalized one. @throws TypeError unless it is the cursor's */
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
