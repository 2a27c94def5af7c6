/**
 * A block that is asked for by a tag, and no older one than the caller has seen. Behind a balancer, the next answer may come from a
 * server that is some blocks behind.
 */
import {shown} from "../bytes/values.ts";
import {Pauses} from "../rpc/pauses.ts";
import {RpcError} from "../rpc/rpcError.ts";
import {blockNumber, type HeldBlockName} from "./block.ts";

export interface AskedBlock<Name extends HeldBlockName> {
  readonly block: Name;
  /** undefined: any block will do. */
  readonly atLeast: bigint | undefined;
}

/** The next answer is probably another server's. */
const FIRST_PAUSE_MS = 10;

/**
 * Asks until the answer's block is new enough, for as long as a call may take.
 *
 * @param ask - one call
 * @param numberOf - the block that an answer names
 * @throws TypeError for `atLeast` beside a block that is none of the newest ones; RpcError BLOCK_TOO_OLD; what `ask` throws
 */
export async function askNotBefore<Answer>(
  {block, atLeast}: AskedBlock<HeldBlockName>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
  numberOf: (answer: Answer) => bigint,
): Promise<Answer> {
  if (atLeast === undefined) return ask();
  if (typeof atLeast !== "bigint" || atLeast < 0n)
    throw new TypeError(`atLeast: expected a bigint from 0n, got ${shown(atLeast)}`);
  if (blockNumber(block) !== undefined || typeof block === "object" || block === "earliest")
    throw new TypeError(
      `atLeast: expected it only with "latest", "finalized", "safe" or "pending", got the block ${shown(block)}`,
    );
  const pauses = new Pauses(timeoutMs, FIRST_PAUSE_MS, signal);
  for (;;) {
    const answer = await ask();
    const number = numberOf(answer);
    if (number >= atLeast) return answer;
    if (!(await pauses.wait()))
      throw new RpcError(
        "BLOCK_TOO_OLD",
        `expected block ${atLeast} or a newer one for "${block}", got block ${number} for ${timeoutMs} ms`,
      );
  }
}
