/** Blocks: how callers name them, and what a server says of one. */
import {type Hex, quantity} from "../bytes/hex.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {fieldsOf, optional, readBoolean, readHash, readQuantity} from "./answerFields.ts";

export type BlockTag = "earliest" | "finalized" | "safe" | "latest" | "pending";

/**
 * A block by its number or a tag. There are no block hashes: a proof shows a state root, the root that you trust belongs to a
 * number, and which number a hash has would be the server's word.
 */
export type BlockName = bigint | number | BlockTag;

/** A block of which nothing is proved, so it may also be named by its hash (EIP-1898). */
export type HeldBlockName = BlockName | {readonly blockHash: string};

/** Where layer 1 finalized a block, and what its contract holds since then: one of the last two. */
export interface Layer1Record {
  readonly blockNumber: bigint;
  readonly transactionHash: Hex;
  readonly stateRoot: Hex | undefined;
  readonly blockHash: Hex | undefined;
}

/** What the server says of a block. None of it is proved. */
export interface RootedBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly stateRoot: Hex;
  readonly finalized: boolean;
  /** undefined unless the block ended a finalization on layer 1 that the server follows. */
  readonly l1: Layer1Record | undefined;
}

const BLOCK_BYTES = 4096;

export const readLayer1 = fieldsOf<Layer1Record>({
  blockNumber: readQuantity,
  transactionHash: readHash,
  stateRoot: optional(readHash),
  blockHash: optional(readHash),
});

export const readRootedBlock = fieldsOf<RootedBlock>({
  number: readQuantity,
  hash: readHash,
  stateRoot: readHash,
  finalized: readBoolean,
  l1: optional(readLayer1),
});

/** @throws TypeError if it names no block */
export function encodeBlock(name: HeldBlockName): unknown {
  const number = blockNumber(name);
  return number === undefined ? name : quantity(number);
}

/** @returns undefined for a tag or a hash. @throws TypeError for a number that no block has */
export function blockNumber(name: HeldBlockName): bigint | undefined {
  if (typeof name !== "number" && typeof name !== "bigint") return undefined;
  const isWhole = typeof name === "bigint" || Number.isSafeInteger(name);
  if (!isWhole || name < 0) throw new TypeError(`block: expected a whole number from 0, got ${name}`);
  return BigInt(name);
}

/** @throws RpcError */
export async function getStateRoot(
  caller: RpcCaller,
  block: HeldBlockName,
  signal?: AbortSignal,
): Promise<RootedBlock> {
  const params = [encodeBlock(block)];
  const request = {method: "chain_getStateRoot", params, maxAnswerBytes: BLOCK_BYTES};
  return readRootedBlock("block", await caller.call(request, signal));
}
