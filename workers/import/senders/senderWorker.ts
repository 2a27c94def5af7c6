/**
 * The thread that recovers senders (sendersAhead.ts). It begins with a block's last transaction, because the thread that executes
 * the block begins with the first one.
 */
import {workerData} from "node:worker_threads";
import type {Transaction} from "../../../evm/execution/block/blockTransaction.ts";
import {readTransactions} from "../../../evm/execution/block/decodedBlock.ts";
import {recoverAddress} from "../../../evm/interpreter/ecrecover.ts";
import {Niceness, yieldToOtherThreads} from "../../threads/threadPriority.ts";
import {SharedSenders} from "./sharedSenders.ts";
import type {SenderAnswer, SenderRequest, SenderThreadSettings} from "./threadMessages.ts";

yieldToOtherThreads(Niceness.IMPORT);

const {port, done, chainId} = workerData as SenderThreadSettings;

port.on("message", ({id, block}: SenderRequest) => {
  const transactions = isDone(id) ? [] : tryRead(block);
  const senders = SharedSenders.create(transactions.length);
  const answer: SenderAnswer = {id, senders: senders.memory};
  port.postMessage(answer);
  for (let at = transactions.length - 1; at >= 0 && !isDone(id); at--) {
    const {hash, rs, isOdd} = (transactions[at] as Transaction).signature;
    const sender = recoverAddress(hash, rs, isOdd);
    if (sender !== undefined) senders.put(at, sender);
  }
});

function isDone(id: number): boolean {
  return Atomics.load(done, id % done.length) === id;
}

/** What is wrong with a block is for its execution to say. */
function tryRead(block: Uint8Array): readonly Transaction[] {
  try {
    return readTransactions(block, chainId);
  } catch {
    return [];
  }
}
