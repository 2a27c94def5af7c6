/** Finalizations of layer 1 in a store: recorded with the mark, whole or not at all, in this thread and beside an import. */
import assert from "node:assert/strict";
import {type TestContext, test} from "node:test";
import type {FinalityEvent, FinalityStep} from "../../../storage/commit/finalityStep.ts";
import {PrunedBlocks} from "../../../storage/prune/prunedBlocks.ts";
import {createRetention, type RecordedEnds} from "../../../storage/prune/retention.ts";
import {blockKey, finalizationKey, META} from "../../../storage/record/layout.ts";
import {sealRecord} from "../../../storage/record/record.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {CONTRACT, createEvent, createStep, rootOf} from "../../support/chains/finalityEvents.ts";
import {createLines, hashOfBlock} from "../../support/chains/serviceLines.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {pruneStore} from "../../support/stores/prunedStore.ts";
import {tamper} from "../../support/stores/tamper.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";
import {WrittenStore} from "../../support/stores/writtenStore.ts";

/** Nothing was recorded from layer 1. */
const NO_ENDS: RecordedEnds = {from: () => undefined, last: () => undefined};

/** Closed after the test. @param last - block of the store */
async function makeStore(t: TestContext, last: number): Promise<TemporaryStore> {
  const store = await TemporaryStore.filled(createLines(0, last));
  t.after(() => store.close());
  return store;
}

function endsOf(store: TemporaryStore, from: number, limit = 100): number[] {
  return Array.from(store.engine.chain.finalizations.list(from, limit), ({endBlock}) => endBlock);
}

async function assertConflict(store: TemporaryStore, step: FinalityStep, message: RegExp): Promise<void> {
  const before = [store.engine.chain.head(), endsOf(store, 0), store.engine.chain.finalizations.readLayer1()];
  await assert.rejects(store.engine.writes.recordFinality(step), {code: "FINALITY_CONFLICT", message});
  assert.deepEqual(
    [store.engine.chain.head(), endsOf(store, 0), store.engine.chain.finalizations.readLayer1()],
    before,
  );
}

test("finalizations, how far layer 1 was read and the mark are recorded together and stay", async t => {
  const store = await makeStore(t, 9);
  assert.equal(store.engine.chain.finalizations.readLayer1(), undefined);
  assert.equal((await store.engine.writes.recordFinality(createStep(50))).finalized, undefined);
  const step = createStep(100, createEvent(1, 3, 60), createEvent(4, 4, 60, {logIndex: 1}));
  assert.equal((await store.engine.writes.recordFinality(step)).finalized, 4);
  const older = createEvent(5, 8, 110, {startBlock: undefined});
  assert.equal((await store.engine.writes.recordFinality(createStep(120, older))).finalized, 8);
  await store.reopen();
  const {chain} = store.engine;
  assert.equal(chain.head().finalized, 8);
  assert.deepEqual(chain.finalizations.readLayer1()?.mark, {
    block: 120,
    blockHash: Buffer.alloc(32, 120),
    contract: CONTRACT,
  });
  const {parent: _, ...expected} = older;
  assert.deepEqual(chain.finalizations.last(), expected);
  assert.deepEqual(endsOf(store, 0), [3, 4, 8]);
  assert.deepEqual(endsOf(store, 0, 2), [3, 4]);
  assert.deepEqual(endsOf(store, 3), [3, 4, 8]);
  assert.deepEqual(endsOf(store, 5, 1), [8]);
  assert.deepEqual(endsOf(store, 9), []);
  await assert.rejects(store.engine.writes.rollback(7), {code: "FINALIZED"});
  assert.equal((await store.engine.writes.rollback(8)).latest, 8);
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("a finalization of another branch's block is refused, whole step and all", async t => {
  const store = await makeStore(t, 6);
  const hashOf = (block: number) => Buffer.from(hashOfBlock(block).slice(2), "hex");
  const [first, second] = [createEvent(1, 3, 60), createEvent(4, 5, 61)];
  await assertConflict(
    store,
    createStep(100, first, {...second, endHash: hashOf(500)}),
    /up to block 5 .* another branch: block 5 has hash 0x\w+ here, but 0x\w+ at the layer-2 node/,
  );
  const step = createStep(100, first, {...second, endHash: hashOf(5)});
  assert.equal((await store.engine.writes.recordFinality(step)).finalized, 5);
});

test("a layer 1 that contradicts itself is refused, and nothing of it is recorded", async t => {
  const store = await makeStore(t, 9);
  await store.engine.writes.recordFinality(createStep(100, createEvent(1, 4, 60)));
  const good = createEvent(5, 6, 110);
  for (const [event, message] of [
    [createEvent(5, 4, 111), /begins at block 5, after its end/],
    [createEvent(3, 4, 111), /comes after one that ends at block 6/],
    [createEvent(5, 6, 111), /comes after one that ends at block 6/],
    [createEvent(6, 7, 111), /begins at block 6, but the one before it ends at block 6/],
    [createEvent(8, 9, 111), /begins at block 8, but the one before it ends at block 6/],
    [createEvent(7, 9, 111, {parent: rootOf(9)}), /follows state root 0x0a.*has 0x0707/],
  ] as const)
    await assertConflict(store, createStep(120, good, event), message);
  const other = {...createStep(130), mark: {...createStep(130).mark, contract: Buffer.alloc(20)}};
  await assertConflict(store, other, /recorded here are those of contract 0xc0c0/);
});

test("the roots of a finalization are compared with those of the trees, once the first has told that it names these", async t => {
  const store = await makeStore(t, 9);
  const root = (block: number): Uint8Array => {
    const held = store.engine.chain.readBlock(block);
    return "stateRoot" in held ? held.stateRoot : assert.fail(held.detail);
  };
  const stepOf = (event: FinalityEvent): FinalityStep => ({events: [event], mark: createStep(100).mark});
  const roots = {parent: root(0), final: root(3)};
  const wrong = createEvent(1, 3, 60, {...roots, final: root(2)});
  const said = /has state root 0x\w+, but block 3 has no root in its header and 0x\w+ in the trees here/;
  await assertConflict(store, stepOf(wrong), said);
  const orphan = createEvent(1, 3, 60, {...roots, parent: root(1)});
  await assertConflict(store, stepOf(orphan), /follows state root 0x\w+, but block 0 has 0x\w+/);
  const asHeader = {...stepOf(createEvent(1, 3, 60, roots)), root: "header"} as const;
  await assertConflict(store, asHeader, /but block 3 has no root in its header here$/);
  await store.engine.writes.recordFinality(stepOf(createEvent(1, 3, 60, roots)));
  assert.equal(store.engine.chain.finalizations.readLayer1()?.root, "suite");
  const next = createEvent(4, 5, 61, {parent: root(3), final: rootOf(5)});
  await assertConflict(store, stepOf(next), /but block 5 has 0x\w+ in the trees here$/);
  assert.equal(store.engine.chain.head().finalized, 3);
});

test("finalizations by block hash follow those by state root, and each hash is that of the stored block", async t => {
  const store = await makeStore(t, 14);
  const hash = (block: number) => Buffer.from(hashOfBlock(block).slice(2), "hex");
  const zero = Buffer.alloc(32);
  const byHash = (start: number, end: number, changes: Partial<FinalityEvent> = {}): FinalityEvent =>
    createEvent(start, end, 60 + end, {
      names: "blockHash",
      parent: hash(start - 1),
      final: hash(end),
      ...changes,
    });
  const byRoot = createEvent(1, 3, 60);
  const refuse = (message: RegExp, ...events: FinalityEvent[]) =>
    assertConflict(store, createStep(100, ...events), message);
  const first = byHash(4, 5, {parent: zero});
  // Roots are not compared in these steps. Hashes are.
  await refuse(/up to block 5 .* has block hash 0x0+, but block 5 has 0x/, byRoot, {...first, final: zero});
  await refuse(/has block hash 0x\w+, but block 5 has 0x/, byRoot, {...first, final: hash(4)});
  await refuse(
    /begins at block 5, but the one before it ends at block 3/,
    byRoot,
    byHash(5, 6, {parent: zero}),
  );
  await refuse(/follows block hash 0x\w+, but block 3 has 0x\w+ here/, byRoot, {...first, parent: hash(2)});
  await refuse(
    /follows block hash 0x0+, but the one before it, up to block 5, has/,
    byRoot,
    first,
    byHash(6, 7, {parent: zero}),
  );
  await refuse(
    /follows block hash 0x\w+, but the one before it/,
    byRoot,
    first,
    byHash(6, 7, {parent: hash(4)}),
  );
  await store.engine.writes.recordFinality(createStep(100, byRoot, first, byHash(6, 8)));
  await refuse(/follows block hash 0x0+, but the one before it, up to block 8/, byHash(9, 9, {parent: zero}));
  await store.reopen();
  await store.engine.writes.recordFinality(createStep(110, byHash(9, 10)));
  // A contract may go back.
  await store.engine.writes.recordFinality(
    createStep(120, createEvent(11, 12, 80, {parent: rootOf(99)}), byHash(13, 14)),
  );
  assert.equal(store.engine.chain.head().finalized, 14);
  assert.deepEqual(
    Array.from(store.engine.chain.finalizations.list(0, 9), ({names, endBlock}) => [names, endBlock]),
    [
      ["stateRoot", 3],
      ["blockHash", 5],
      ["blockHash", 8],
      ["blockHash", 10],
      ["stateRoot", 12],
      ["blockHash", 14],
    ],
  );
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("the roots of a finalization are compared with those of the headers, once the first has told that it names these", async t => {
  const written = await WrittenStore.create(5, block => rootOf(100 + block));
  t.after(() => written.close());
  const {reader} = written.host;
  const record = async (event: FinalityEvent): Promise<void> => {
    const writer = written.host.writer;
    writer.recordFinality({events: [event], mark: createStep(100).mark});
    await writer.flush();
  };
  const roots = (parent: number, final: number) => ({
    parent: rootOf(100 + parent),
    final: rootOf(100 + final),
  });
  const said = /has state root 0x\w+, but block 2 has 0x6767\w+ in its header and 0x\w+ in the trees here/;
  await assert.rejects(record(createEvent(1, 2, 60, roots(0, 3))), {
    code: "FINALITY_CONFLICT",
    message: said,
  });
  await record(createEvent(1, 2, 60, roots(0, 2)));
  assert.equal(reader.finalizations.readLayer1()?.root, "header");
  const orphan = createEvent(3, 4, 61, {
    ...roots(2, 4),
    final: reader.headerRecordOrThrow(4).stateRoot,
  });
  const only = /has state root 0x\w+, but block 4 has 0x6969\w+ in its header here$/;
  await assert.rejects(record(orphan), {code: "FINALITY_CONFLICT", message: only});
  assert.equal(reader.readFinalized(), 2);
  await record(createEvent(3, 4, 61, roots(2, 4)));
  assert.equal(reader.readFinalized(), 4);
});

test("another first block of layer 1 begins finality again, also with another contract", async t => {
  const store = await makeStore(t, 9);
  const mark = {...createStep(10).mark, contract: Buffer.alloc(20, 1)};
  const begin = {root: "none", mark, from: 5} as const;
  await store.engine.writes.recordFinality(createStep(100, createEvent(1, 4, 60)));
  await assertConflict(
    store,
    {...begin, events: [createEvent(3, 4, 7)]},
    /comes after one that ends at block 4/,
  );
  await store.engine.writes.recordFinality({...begin, events: []});
  await store.engine.writes.recordFinality({...begin, events: [createEvent(6, 7, 8, {parent: rootOf(99)})]});
  await assertConflict(
    store,
    {...begin, events: [createEvent(9, 9, 9)]},
    /the one before it ends at block 7/,
  );
  assert.deepEqual(endsOf(store, 0), [4, 7]);
  assert.equal(store.engine.chain.finalizations.readLayer1()?.begun, 1);
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("finalized blocks that are wrong are removed on the operator's word, and the rest of the store goes on", async t => {
  const store = await makeStore(t, 9);
  await store.engine.writes.recordFinality(createStep(100, createEvent(1, 3, 60), createEvent(4, 8, 61)));
  await assert.rejects(store.engine.writes.rollback(5), {code: "FINALIZED"});
  const kept = store.engine.chain.readBlock(5);
  await store.engine.close();
  const opened = await StateStore.open({directory: store.directory, role: "owner", cacheBytes: 1 << 20});
  await assert.rejects(opened.rollbackFinalized(10), {code: "BLOCK_UNKNOWN"});
  await opened.rollbackFinalized(5);
  await opened.close();
  assert.deepEqual((await checkStore(store.directory)).found, []);
  await store.reopen();
  const {chain} = store.engine;
  assert.deepEqual([chain.head().latest, chain.head().finalized], [5, 5]);
  assert.deepEqual(chain.readBlock(5), kept);
  assert.deepEqual(endsOf(store, 0), [3]);
  assert.deepEqual(chain.finalizations.readLayer1()?.mark.blockHash, Buffer.alloc(32));
  const other = createLines(6, 9).map(line => ({...line, accounts: {}}));
  await store.mustImport(other);
  const step = createStep(120, createEvent(4, 6, 62, {parent: rootOf(3)}));
  assert.equal((await store.engine.writes.recordFinality(step)).finalized, 6);
  assert.deepEqual(endsOf(store, 0), [3, 6]);
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("finalized blocks are removed also where blocks between the kept ones are pruned", async t => {
  const store = await makeStore(t, 9);
  await store.engine.writes.recordFinality(
    createStep(100, createEvent(1, 2, 60), createEvent(3, 6, 61), createEvent(7, 9, 62)),
  );
  await store.engine.close();
  const opened = await StateStore.open({directory: store.directory, role: "owner", cacheBytes: 1 << 20});
  const {finalizations} = opened.reader;
  const ends = {
    from: (block: number) => finalizations.covering(block)?.endBlock,
    last: () => finalizations.last()?.endBlock,
  };
  const retention = createRetention({kind: "finalizations"}, ends);
  assert.ok(await pruneStore(opened, retention, {pages: 100, goesOn: () => true}));
  assert.deepEqual(
    (await PrunedBlocks.read(opened.reader)).unprunedRanges(9, 9).ranges,
    [9, 6, 2].map(end => [end, end]),
  );
  // A record under a flipped key is not found. It must not pass for one of a pruned block.
  const key = blockKey(6);
  const record = await opened.db.get(key);
  await opened.db.del(key);
  await assert.rejects(PrunedBlocks.read(opened.reader), {
    code: "RECORD_MISSING",
    message: /^record of block 6 is not/,
  });
  await opened.db.put(key, record as Buffer);
  await assert.rejects(opened.rollbackFinalized(4), {code: "BLOCK_PRUNED"});
  await opened.rollbackFinalized(2);
  await opened.close();
  assert.deepEqual((await checkStore(store.directory)).found, []);
  await store.reopen();
  assert.deepEqual(endsOf(store, 0), [2]);
  await store.mustImport(createLines(3, 9));
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("a check finds a finalization that is gone, and one that is not counted", async t => {
  for (const [lost, found] of [
    [
      finalizationKey(0),
      [/^finalization 1: .*finalization 0 is not in the store, although the layer1 record counts it/],
    ],
    [
      finalizationKey(1),
      [/^layer1 record: .*finalization 1 is not in the store, although the layer1 record counts it/],
    ],
    [META.layer1, [/^finalization 0: it is not counted/, /^finalization 1: it is not counted/]],
  ] as const) {
    const store = await makeStore(t, 4);
    await store.engine.writes.recordFinality(createStep(100, createEvent(1, 2, 60), createEvent(3, 4, 61)));
    await store.engine.close();
    await tamper(store.directory, db =>
      lost === META.layer1 ? db.put(lost, sealRecord(lost, Buffer.alloc(0))) : db.del(lost),
    );
    const result = await checkStore(store.directory);
    assert.equal(result.found.length, found.length, result.found.join("\n"));
    for (const [at, what] of found.entries()) assert.match(result.found[at] ?? "", what);
    await store.reopen();
  }
});

test("what was finalized stays known of blocks that are pruned, and the next finalization is recorded", async t => {
  const store = await makeStore(t, 9);
  await store.engine.writes.recordFinality(createStep(100, createEvent(1, 2, 60), createEvent(3, 6, 61)));
  const before = store.engine.chain.readHeader(2);
  await store.engine.close();
  const opened = await StateStore.open({directory: store.directory, role: "owner", cacheBytes: 1 << 20});
  const retention = createRetention({kind: "newest", blocks: 1}, NO_ENDS);
  assert.ok(await pruneStore(opened, retention, {pages: 100, goesOn: () => true}));
  await opened.close();
  await store.reopen();
  const {chain} = store.engine;
  assert.ok("failure" in chain.readBlock(2));
  assert.deepEqual(chain.readHeader(2), before);
  assert.deepEqual(endsOf(store, 0), [2, 6]);
  assert.equal(
    (await store.engine.writes.recordFinality(createStep(120, createEvent(7, 8, 110)))).finalized,
    8,
  );
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("while an import runs, its thread records finality between two blocks, and a refusal does not end it", async t => {
  const store = await makeStore(t, 4);
  const running = await store.follow(-1);
  await store.append(createLines(5, 6));
  assert.equal(
    (await store.engine.writes.recordFinality(createStep(100, createEvent(1, 4, 60)))).finalized,
    4,
  );
  await assertConflict(store, createStep(110, createEvent(3, 5, 105)), /the one before it ends at block 4/);
  await store.append(createLines(7, 8));
  assert.equal(
    (await store.engine.writes.recordFinality(createStep(120, createEvent(5, 8, 115)))).finalized,
    8,
  );
  assert.deepEqual(endsOf(store, 0), [4, 8]);
  running.stop();
  assert.equal((await running.outcome).ok, true);
});
