/** chain_getFinalizations: the contract on layer 1 stores the state roots of their last blocks alone. */
import {quantity} from "../bytes/hex.ts";
import {fieldsOf, listOf, optional, readHash, readQuantity} from "./answerFields.ts";
import type {Abortable} from "./askedBlock.ts";
import {readLayer1} from "./block.ts";
import type {RpcCaller} from "./connection.ts";

export interface GetFinalizationsParameters extends Abortable {
  /** Default: 0. */
  readonly fromBlock?: bigint | undefined;
  /** 1 to 1 000. Default: 100. */
  readonly count?: number | undefined;
}

const DEFAULT_COUNT = 100;
const FINALIZATION_BYTES = 1024;

const readFinalization = fieldsOf({
  /** undefined: the contract's event does not name it. The range begins after the one before. */
  startBlock: optional(readQuantity),
  endBlock: readQuantity,
  /** Of the end block. */
  stateRoot: readHash,
  l1: readLayer1,
});
/** The server's claim of a finalization. Compare its root with the contract's. */
export type Finalization = ReturnType<typeof readFinalization>;

/** @returns in order, beginning with the one that covers `fromBlock`. @throws RpcError */
export async function getFinalizations(
  caller: RpcCaller,
  {fromBlock = 0n, count = DEFAULT_COUNT, signal}: GetFinalizationsParameters = {},
): Promise<readonly Finalization[]> {
  const request = {
    method: "chain_getFinalizations",
    params: [quantity(fromBlock), quantity(BigInt(count))],
    maxAnswerBytes: FINALIZATION_BYTES * count,
  };
  return listOf(0, count, readFinalization)("finalizations", await caller.call(request, signal));
}
