/** chain_getStateRoot: what the server claims of a block, without proofs. */
import {fieldsOf, optional, readBoolean, readHash, readQuantity} from "./answerFields.ts";
import {type Abortable, askNotBefore, encodeBlock, type HeldBlockName, type NotBefore} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";

export interface GetStateRootParameters extends Abortable, NotBefore {
  /** Default: "latest", which may not be finalized yet. */
  readonly block?: HeldBlockName | undefined;
}

const BLOCK_BYTES = 4096;

export const readLayer1 = fieldsOf({
  blockNumber: readQuantity,
  transactionHash: readHash,
  stateRoot: optional(readHash),
  blockHash: optional(readHash),
});
/** Where layer 1 finalized a block, and what its contract stores: a state root or a block hash. */
export type Layer1Record = ReturnType<typeof readLayer1>;

export const readRootedBlock = fieldsOf({
  number: readQuantity,
  hash: readHash,
  stateRoot: readHash,
  finalized: readBoolean,
  /** undefined unless the block ended a finalization on layer 1 that the server follows. */
  l1: optional(readLayer1),
});
/** What the server claims of a block, without proofs. */
export type RootedBlock = ReturnType<typeof readRootedBlock>;

export function getStateRoot(
  caller: RpcCaller,
  {block = "latest", atLeast, signal}: GetStateRootParameters = {},
): Promise<RootedBlock> {
  const params = [encodeBlock(block)];
  const request = {method: "chain_getStateRoot", params, maxAnswerBytes: BLOCK_BYTES};
  const ask = async () => readRootedBlock("block", await caller.call(request, signal));
  return askNotBefore(caller, {block, atLeast, signal}, ask, ({number}) => number);
}
