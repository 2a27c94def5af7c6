/** Senders that another thread recovers while blocks are executed: the demo chain's. */
import assert from "node:assert/strict";
import {after, test} from "node:test";
import {setImmediate as turn} from "node:timers/promises";
import type {Worker} from "node:worker_threads";
import {DEMO_FOLDER} from "../../../demo/artefact.ts";
import {readTransactions} from "../../../evm/execution/block/decodedBlock.ts";
import {BlockExecutor, type BlockExecutorOptions} from "../../../evm/execution/blockExecutor.ts";
import {recoverAddress} from "../../../evm/interpreter/ecrecover.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {SendersAhead} from "../../../workers/import/senders/sendersAhead.ts";
import {type PlainDifference, readChainFiles, toPlain} from "../../support/chains/executedChain.ts";
import {once} from "../../support/wait.ts";

const {genesis, blocks} = await readChainFiles(DEMO_FOLDER);
const {chainId, forks} = genesis;
const opened: SendersAhead[] = [];

after(() => Promise.all(opened.map(senders => senders.close())));

test("senders recovered ahead are those that are recovered in place", async () => {
  const senders = openBusy();
  for (const block of blocks) senders.ask(block);
  let found = 0;
  for (const block of blocks)
    for (const [position, {signature}] of readTransactions(block, chainId).entries()) {
      const {hash, rs, isOdd} = signature;
      assert.deepEqual(await untilFound(senders, block, position), recoverAddress(hash, rs, isOdd));
      found++;
    }
  assert.equal(found, 337);
});

test("a block that nobody can have signed, that cannot be read, or that was not asked for, has no senders", async () => {
  const senders = openBusy();
  const signed = blocks.find(block => readTransactions(block, chainId).length === 1);
  assert.ok(signed !== undefined);
  const s = readTransactions(signed, chainId)[0]?.signature.rs.subarray(32);
  assert.ok(s !== undefined && s[0] !== 0);
  const unsigned = new Uint8Array(signed);
  unsigned.fill(0xff, Buffer.from(signed).indexOf(s)).set(signed.subarray(-1), signed.length - 1);
  const others = [unsigned, signed.slice(0, -1), new Uint8Array(100)];
  for (const block of [...others, signed]) senders.ask(block);
  assert.ok(await untilFound(senders, signed, 0));
  for (const block of [...others, new Uint8Array(signed)]) assert.equal(senders.find(block, 0), undefined);
});

test("blocks are executed alike with senders from ahead, and once their thread has died", async () => {
  const deaths: string[] = [];
  const senders = openBusy(reason => deaths.push(reason));
  for (const block of blocks) senders.ask(block);
  await untilFound(senders, blocks[0] as Uint8Array, 0);
  let found = 0;
  const findSender: BlockExecutorOptions["findSender"] = (block, position) => {
    const sender = senders.find(block, position);
    if (sender !== undefined) found++;
    return sender;
  };
  const withSenders = await executeAll(findSender, async position => {
    // Soon: on a busy machine, the thread would end by itself after it has been idle.
    if (position === 10) await kill(senders);
    senders.drop(blocks[position] as Uint8Array);
  });
  assert.ok(found > 0);
  assert.deepEqual(withSenders, await executeAll(undefined, async () => {}));
  assert.deepEqual(deaths, ["it ended by itself"]);
  senders.ask(new Uint8Array(blocks[0] as Uint8Array));
  assert.equal(workerOf(senders), undefined);
});

/** One that has seen as many bytes of blocks as its thread is worth. */
function openBusy(onDeath: (reason: string) => void = assert.fail): SendersAhead {
  const senders = new SendersAhead(chainId, onDeath);
  opened.push(senders);
  for (const block of [...blocks, ...blocks]) senders.ask(new Uint8Array(block));
  assert.ok(workerOf(senders) !== undefined);
  return senders;
}

function workerOf(senders: SendersAhead): Worker | undefined {
  return (senders as unknown as {worker?: Worker}).worker;
}

async function kill(senders: SendersAhead): Promise<void> {
  const worker = workerOf(senders);
  assert.ok(worker !== undefined);
  void worker.terminate();
  await once(worker, "exit");
}

async function untilFound(senders: SendersAhead, block: Uint8Array, position: number): Promise<Uint8Array> {
  for (;;) {
    const sender = senders.find(block, position);
    if (sender !== undefined) return sender;
    await turn();
  }
}

async function executeAll(
  findSender: BlockExecutorOptions["findSender"],
  before: (position: number) => Promise<void>,
): Promise<PlainDifference[]> {
  const options = {forks, store: new MemoryTries(), blockHash: () => undefined};
  const {executor} = await BlockExecutor.start({...options, findSender}, genesis);
  const differences: PlainDifference[] = [];
  for (const [position, block] of blocks.entries()) {
    await before(position);
    differences.push(toPlain(await executor.execute(block)));
  }
  return differences;
}
