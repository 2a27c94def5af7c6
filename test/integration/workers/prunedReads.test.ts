/** Proofs that meet pruning in a proof thread: whatever the thread has cached, an answer is right or says that it is pruned. */
import assert from "node:assert/strict";
import {cp, mkdtemp} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import type {History} from "../../../storage/prune/retention.ts";
import type {PruneEvent} from "../../../workers/chain/pruner.ts";
import {Engine} from "../../../workers/engine.ts";
import {createEvent, createStep} from "../../support/chains/finalityEvents.ts";
import {addressAt, longChain} from "../../support/chains/longChain.ts";
import "../../support/processes/testProcess.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {proveCalls} from "../../support/stores/proveCalls.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const BLOCKS = 48;
const ACCOUNTS = 6;
const CALLS_OF = (block: number) =>
  Array.from({length: 40}, (_, i) => ({
    block,
    address: addressAt((i * 7) % (block * ACCOUNTS)),
    slots: [0n, 5n],
  }));

const folder = makeTemporaryFolder();

before(async () => {
  await importLines(join(folder, "whole"), longChain(BLOCKS, ACCOUNTS));
});

/** On a copy of the store. */
async function withPool(history: History, body: (engine: Engine) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(folder, "db-"));
  await cp(join(folder, "whole"), directory, {recursive: true});
  const events: PruneEvent[] = [];
  const engine = await Engine.open({
    directory,
    workers: 1,
    // Next to nothing is cached, so the pages are read.
    cacheBytes: 4096,
    createIfMissing: false,
    pruning: {history, rests: false, onEvent: event => events.push(event)},
  });
  try {
    await body(engine);
    await engine.pruner?.idle();
    assert.deepEqual(
      events.filter(({kind}) => kind === "failed"),
      [],
    );
  } finally {
    await engine.close();
  }
  assert.deepEqual((await checkStore(directory)).found, []);
}

/** Every answer is the expected one, or says that the block is pruned. @returns how many say so */
function countRefused(answers: readonly string[], expected: readonly string[]): number {
  const others = answers.filter((answer, i) => answer !== expected[i]);
  for (const answer of others) assert.equal(answer.slice(0, 100), "BLOCK_PRUNED");
  return others.length;
}

test("a proof that is made while its block is pruned is right, or says so", async t => {
  await withPool({kind: "newest", blocks: 2}, async engine => {
    let refused = 0;
    for (let block = 10; block + 3 < BLOCKS; block += 8) {
      await engine.writes.finalize(block);
      const calls = CALLS_OF(block);
      const expected = await proveCalls(engine, calls);
      assert.ok(expected.every(text => text.startsWith("{")));
      const finalized = engine.writes.finalize(block + 3);
      for (let isPruned = false; !isPruned; ) {
        isPruned = engine.chain.pruned.has(block);
        refused += countRefused(await proveCalls(engine, calls), expected);
      }
      await finalized;
      await engine.pruner?.idle();
      // A thread may still have a page or two of the block in memory.
      refused += countRefused(await proveCalls(engine, calls), expected);
    }
    assert.ok(refused > 0);
    t.diagnostic(`${refused} proofs were refused`);
  });
});

test("with --history finalizations, the blocks that ended one stay, and all above the last of them", async () => {
  await withPool({kind: "finalizations"}, async engine => {
    await engine.writes.recordFinality(createStep(100, createEvent(1, 9, 90), createEvent(10, 20, 95)));
    await engine.writes.recordFinality(createStep(200, createEvent(21, 33, 190)));
    await engine.pruner?.idle();
    const younger = [33, BLOCKS - 1] as const;
    assert.deepEqual(engine.chain.pruned.unprunedRanges(BLOCKS - 1, 9).ranges, [younger, [20, 20], [9, 9]]);
    assert.equal(engine.chain.head().earliest, 9);
    // Finalized by another way: layer 1 may still finalize any of them.
    await engine.writes.finalize(40);
    await engine.writes.finalize(44);
    await engine.pruner?.idle();
    assert.deepEqual(engine.chain.pruned.unprunedRanges(44, 9).ranges, [
      [33, 44],
      [20, 20],
      [9, 9],
    ]);
    assert.deepEqual(engine.chain.pruned.nearest(25), {isMissed: false, below: 20, above: 33});
    for (const block of [9, 20, 33, 44])
      assert.ok((await proveCalls(engine, CALLS_OF(block))).every(text => text.startsWith("{")));
  });
});
