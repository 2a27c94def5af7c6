/** chain_getStateRoot: what the server claims of a block, without proofs. */
import type {Hex} from "../bytes/hex.ts";
import {fieldsOf, optional, readBoolean, readHash, readQuantity} from "./answerFields.ts";
import {type Abortable, askNotBefore, encodeBlock, type HeldBlockName, type NotBefore} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";

export interface GetStateRootParameters extends Abortable, NotBefore {
  /** Default: "latest", which may not be finalized yet. */
  readonly block?: HeldBlockName | undefined;
}

/** Where layer 1 finalized a block, and what its contract stores: a state root or a block hash. */
export interface Layer1Record {
  readonly blockNumber: bigint;
  readonly transactionHash: Hex;
  readonly stateRoot: Hex | undefined;
  readonly blockHash: Hex | undefined;
}

/** What the server claims of a block, without proofs. */
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

export function getStateRoot(
  caller: RpcCaller,
  {block = "latest", atLeast, signal}: GetStateRootParameters = {},
): Promise<RootedBlock> {
  const params = [encodeBlock(block)];
  const request = {method: "chain_getStateRoot", params, maxAnswerBytes: BLOCK_BYTES};
  const ask = async () => readRootedBlock("block", await caller.call(request, signal));
  return askNotBefore(caller, {block, atLeast, signal}, ask, ({number}) => number);
}
