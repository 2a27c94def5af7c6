/** The chain view announces every change of head and finality, in order, and nothing else. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setImmediate as nextTurn} from "node:timers/promises";
import type {Head} from "../../../workers/messages/head.ts";
import {createLines} from "../../support/chains/serviceLines.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

let store: TemporaryStore;

before(async () => {
  store = await TemporaryStore.create();
});

after(() => store.close());

test("a listener hears imports, finality and rollbacks, each with the head before it", async () => {
  const {engine} = store;
  const heard: [head: Head, before: Head][] = [];
  const unwatch = engine.chain.onChange((head, before) => {
    assert.equal(engine.chain.head(), head);
    heard.push([head, before]);
  });
  await store.importLines(createLines(0, 3));
  const other = Buffer.alloc(32, 0xee);
  await assert.rejects(engine.writes.finalize(1, other), {
    code: "FINALITY_CONFLICT",
    message: /^block 1 .*0xeeee/,
  });
  await engine.writes.finalize(1);
  await engine.writes.finalize(0);
  await engine.writes.rollback(2);
  await engine.writes.rollback(2);
  unwatch();
  await engine.writes.finalize(2);

  const empty = {earliest: undefined, finalized: undefined, latest: undefined};
  const heads = [empty, ...heard.map(([head]) => head)];
  for (const [at, [, before]] of heard.entries()) assert.deepEqual(before, heads[at]);
  // Blocks may come one by one.
  const last = heads.slice(-3);
  assert.deepEqual(last, [
    {earliest: 0, finalized: undefined, latest: 3},
    {earliest: 0, finalized: 1, latest: 3},
    {earliest: 0, finalized: 1, latest: 2},
  ]);
  assert.deepEqual(engine.chain.head(), {earliest: 0, finalized: 2, latest: 2});
  // Of a request that began before a block came or went.
  assert.deepEqual(
    last.map(head => engine.chain.unverified(head)),
    [3, 3, 2].map(latest => [0, latest]),
  );
});

test("orders during an import are announced before they are answered", async () => {
  const {engine} = store;
  const running = await store.follow(0);
  await store.append(createLines(3, 5));
  const heard: (number | undefined)[] = [];
  const unwatch = engine.chain.onChange(({latest}) => heard.push(latest));
  assert.equal((await engine.writes.rollback(4)).latest, 4);
  assert.deepEqual(heard, [4]);
  await assert.rejects(engine.writes.rollback(1), {code: "FINALIZED"});
  await assert.rejects(engine.writes.finalize(3, Buffer.alloc(32, 0xee)), {code: "FINALITY_CONFLICT"});
  await assert.rejects(engine.writes.rollback(9), {code: "BLOCK_UNKNOWN"});
  assert.deepEqual(heard, [4]);
  unwatch();
  running.stop();
  assert.equal((await running.outcome).head.latest, 4);
});

/** Enough that their pages take a while to remove. */
const REMOVED = 60;

for (const isImporting of [false, true])
  test(`while blocks are rolled back${isImporting ? " by an import" : ""}, the newest block is a stored one`, async t => {
    const own = await TemporaryStore.create();
    t.after(() => own.close());
    const {chain} = own.engine;
    await own.mustImport(createLines(0, REMOVED));
    const running = isImporting ? await own.follow(-1) : undefined;
    let isOver = false;
    const removed = own.engine.writes.rollback(1).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const {latest} = chain.head();
      const block = chain.readBlock(latest as number);
      assert.ok("hash" in block, `block ${latest} is not stored`);
      await nextTurn();
    }
    assert.equal((await removed).latest, 1);
    await assert.rejects(own.engine.writes.rollback(5), {code: "BLOCK_UNKNOWN"});
    assert.equal(chain.head().latest, 1);
    running?.stop();
    await running?.outcome;
    await own.mustImport(createLines(0, 4));
    assert.equal(chain.head().latest, 4);
  });

test("the oldest block of the head is the one that pruning leaves, from the moment on when it begins", async () => {
  const {chain} = store.engine;
  const before = chain.head();
  assert.deepEqual(before, {earliest: 0, finalized: 2, latest: 4});
  chain.addPruned(0, 1);
  assert.equal(chain.head().earliest, 2);
  chain.setHead({...before, latest: 6});
  assert.deepEqual(chain.head(), {...before, earliest: 2, latest: 6});
});
