/**
 * How callers name blocks. A call with a tag can be repeated until its block is no older than one that the caller has
 * seen: behind a load balancer, the next answer may come from a server that is some blocks behind.
 */
import {quantity} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import type {RpcRequest} from "../rpc/httpCaller.ts";
import {Pauses} from "../rpc/pauses.ts";
import {RpcError} from "../rpc/rpcError.ts";
import type {RpcCaller} from "./connection.ts";

export type BlockTag = "earliest" | "finalized" | "safe" | "latest" | "pending";

/**
 * A block by its number or a tag. Not by its hash: a trusted root belongs to a block number, and nothing but the server
 * would say which number a hash has.
 */
export type BlockName = bigint | number | BlockTag;

/** The block of a method without proofs, which may also be named by its hash (EIP-1898). */
export type HeldBlockName = BlockName | {readonly blockHash: string};

/** Every method takes a signal. When it is aborted, the call rejects with its reason at once. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** For a block that is named by a tag. */
export interface NotBefore {
  /** The call is repeated until its answer is of this block or a newer one, or `timeoutMs` is over. Default: any block. */
  readonly atLeast?: bigint | undefined;
}

/** The next answer is probably another server's. */
const FIRST_PAUSE_MS = 10;

/** @throws TypeError for an invalid block number */
export function encodeBlock(name: HeldBlockName): unknown {
  const number = blockNumber(name);
  return number === undefined ? name : quantity(number);
}

/** @returns undefined for a tag or a hash. @throws TypeError for an invalid block number */
export function blockNumber(name: HeldBlockName): bigint | undefined {
  if (typeof name !== "number" && typeof name !== "bigint") return undefined;
  const isWhole = typeof name === "bigint" || Number.isSafeInteger(name);
  if (!isWhole || name < 0) throw new TypeError(`block: expected a whole number from 0, got ${name}`);
  return BigInt(name);
}

/** @throws ProofError if the caller named the block by its number and the answer is of another one */
export function requireAsked(at: string, asked: BlockName, answered: bigint): void {
  const number = blockNumber(asked);
  check(number === undefined || answered === number, `${at}.number`, `expected ${number}, got ${answered}`);
}

/** Requests proof bytes. Some transports and servers send their hex. @throws RpcError, ProofError */
export async function callForBytes(
  caller: RpcCaller,
  request: RpcRequest,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const result = await caller.call({...request, takesBytes: true}, signal);
  return result instanceof Uint8Array ? result : readBytes("result", result);
}

/**
 * Repeats a call until the block of its answer is new enough, for as long as a call may take.
 *
 * @throws TypeError for `atLeast` with a number, a hash or "earliest"; RpcError BLOCK_TOO_OLD; what `ask` throws
 */
export async function askNotBefore<Answer>(
  {timeoutMs}: RpcCaller,
  {block, atLeast, signal}: Abortable & NotBefore & {readonly block: HeldBlockName},
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
