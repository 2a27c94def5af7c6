/** The pruner of an engine in this process: what it says of blocks while it prunes, and what it does when it cannot. */
import assert from "node:assert/strict";
import {join} from "node:path";
import {test} from "node:test";
import {META} from "../../../storage/record/layout.ts";
import {sealRecord} from "../../../storage/record/record.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import type {PruneEvent} from "../../../workers/chain/pruner.ts";
import {Engine} from "../../../workers/engine.ts";
import {longChain} from "../../support/chains/longChain.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";
import {waitUntil} from "../../support/wait.ts";

const BLOCKS = 12;

async function makeStore(): Promise<string> {
  const directory = join(makeTemporaryFolder(), "db");
  await importLines(directory, longChain(BLOCKS, 3));
  return directory;
}

function openPool(directory: string, events: PruneEvent[]): Promise<Engine> {
  return Engine.open({
    directory,
    workers: 0,
    cacheBytes: 1 << 20,
    createIfMissing: false,
    pruning: {
      history: {kind: "newest", blocks: 2},
      rests: false,
      onEvent: event => void events.push(event),
    },
  });
}

test("a damaged record of the pruning ends the pruning, and neither the start nor what moves finality", async t => {
  const directory = await makeStore();
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 0});
  await store.db.put(META.pruning, sealRecord(META.pruning, Buffer.from("short")));
  await store.close();
  const events: PruneEvent[] = [];
  const engine = await openPool(directory, events);
  t.after(() => engine.close());
  assert.equal((await engine.writes.finalize(9)).finalized, 9);
  assert.deepEqual(
    events.map(({kind}) => kind),
    ["failed"],
  );
  assert.equal(engine.pruner?.hasFailed, true);
  assert.equal(engine.chain.head().earliest, 0);
});

test("a pruning that the disk refuses a write waits until the store is opened again, and has not failed", async t => {
  const directory = await makeStore();
  const events: PruneEvent[] = [];
  const engine = await openPool(directory, events);
  t.after(() => engine.close());
  const {pruner} = engine;
  const {writes} = engine as unknown as {writes: {refuse(reason: string): void; lookMs: number}};
  writes.lookMs = 1;
  assert.ok(pruner);
  const unwatch = engine.chain.onChange(({earliest}) => {
    // Blocks are being pruned.
    if (earliest !== 0) writes.refuse("no space left on device");
  });
  await engine.writes.finalize(9);
  unwatch();
  await waitUntil("the end of the pruning", () => events.at(-1)?.kind === "end");
  assert.deepEqual(
    events.map(({kind}) => kind),
    ["begin", "waits", "begin", "end"],
  );
  assert.deepEqual([pruner.hasFailed, pruner.backlog, engine.chain.head().earliest], [false, 0, 8]);
});

test("no block that is said to be provable is pruned, at any moment", async t => {
  const directory = await makeStore();
  const engine = await openPool(directory, []);
  t.after(() => engine.close());
  const claims: string[] = [];
  engine.chain.onChange(({earliest, finalized}) => {
    for (let block = 0; block <= (finalized ?? -1); block++) {
      const {pruned} = engine.chain;
      const summary = engine.chain.readBlock(block);
      if (!pruned.has(block) && "failure" in summary) claims.push(`${block}: ${summary.failure}`);
    }
    assert.ok(engine.chain.pruned.unprunedFrom(0) >= (earliest ?? 0));
  });
  await engine.writes.finalize(9);
  await engine.pruner?.idle();
  assert.deepEqual(claims, []);
  assert.equal(engine.chain.head().earliest, 8);
  assert.equal(engine.chain.pruned.unprunedFrom(0), 8);
});
