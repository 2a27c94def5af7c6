/** The thread that recovers senders, last transaction first: execution begins with the first, so they meet. */
import {parentPort, workerData} from "node:worker_threads";
import type {Transaction} from "../../../evm/execution/block/blockTransaction.ts";
import {readTransactions} from "../../../evm/execution/block/decodedBlock.ts";
import {recoverAddress} from "../../../evm/interpreter/ecrecover.ts";
import {Niceness, yieldToOtherThreads} from "../../threads/threadPriority.ts";
import type {SenderRequest} from "./sendersAhead.ts";
import {SharedSenders} from "./sharedSenders.ts";

yieldToOtherThreads(Niceness.IMPORT);

parentPort?.on("message", ({block, memory}: SenderRequest) => {
  const senders = new SharedSenders(memory);
  senders.begin();
  const transactions = senders.isDone ? [] : tryRead(block);
  for (let at = transactions.length - 1; at >= 0 && !senders.isDone; at--) {
    const {hash, rs, isOdd} = (transactions[at] as Transaction).signature;
    const sender = recoverAddress(hash, rs, isOdd);
    if (sender !== undefined) senders.put(at, sender);
  }
});

/** @returns none for an invalid block: its execution reports the error */
function tryRead(block: Uint8Array): readonly Transaction[] {
  try {
    return readTransactions(block, workerData);
  } catch {
    return [];
  }
}
