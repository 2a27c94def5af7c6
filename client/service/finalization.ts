/** Finalizations on layer 1: its contract holds the state root of the block that ends one, and of no block between. */
import {quantity} from "../bytes/hex.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {readArray, readHash, readObject, readOptionalQuantity, readQuantity} from "./answerFields.ts";
import {type Layer1Record, readLayer1} from "./block.ts";

/** What the server says of one; compare its root with the contract's. */
export interface Finalization {
  /** undefined: the contract's event does not name it. The range begins after the one before. */
  readonly startBlock: bigint | undefined;
  readonly endBlock: bigint;
  /** Of the end block. */
  readonly stateRoot: string;
  readonly l1: Layer1Record;
}

const FINALIZATION_BYTES = 1024;

/**
 * @param count - at most 1 000
 * @returns in order, from the one that covers `fromBlock` on
 * @throws RpcError
 */
export async function getFinalizations(
  caller: RpcCaller,
  fromBlock: bigint,
  count: number,
  signal?: AbortSignal,
): Promise<readonly Finalization[]> {
  const request = {
    method: "chain_getFinalizations",
    params: [quantity(fromBlock), quantity(BigInt(count))],
    maxAnswerBytes: FINALIZATION_BYTES * count,
  };
  const list = readArray("finalizations", await caller.call(request, signal), count);
  return list.map((one, i) => {
    const at = `finalizations[${i}]`;
    const fields = readObject(at, one);
    return {
      startBlock: readOptionalQuantity(`${at}.startBlock`, fields.startBlock),
      endBlock: readQuantity(`${at}.endBlock`, fields.endBlock),
      stateRoot: readHash(`${at}.stateRoot`, fields.stateRoot),
      l1: readLayer1(`${at}.l1`, readObject(`${at}.l1`, fields.l1)),
    };
  });
}
