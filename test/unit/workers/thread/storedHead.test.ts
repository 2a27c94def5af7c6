/** Which blocks a store can prove, and which may be finalized, while some await their audit. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {StateStore} from "../../../../storage/stateStore.ts";
import {readHead} from "../../../../workers/thread/storedHead.ts";
import {createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

test("the head ends before the first block that awaits its audit", async () => {
  const store = await WrittenStore.create(3);
  try {
    const {host} = store;
    const head = () => readHead({reader: host.reader} as StateStore);
    assert.deepEqual(await head(), {earliest: 0, finalized: undefined, latest: 3});
    host.writer().markFinalized(9);
    await host.flush();
    assert.deepEqual(await head(), {earliest: 0, finalized: 3, latest: 3});
    host.writer().awaitAudits();
    await store.apply(createBlock(4, 1));
    await store.apply(createBlock(5, 1));
    assert.deepEqual(await head(), {earliest: 0, finalized: 3, latest: 3, unaudited: 4});
    await host.noteAudited(4);
    assert.deepEqual(await head(), {earliest: 0, finalized: 4, latest: 4, unaudited: 5});
    // Block 4 stays audited; whatever takes the place of block 5 does not.
    await store.rollback(4);
    assert.deepEqual(await head(), {earliest: 0, finalized: 4, latest: 4});
    await store.apply(createBlock(5, 2, 1));
    assert.deepEqual(await head(), {earliest: 0, finalized: 4, latest: 4, unaudited: 5});
  } finally {
    await store.close();
  }
});

test("what takes the place of a block that had passed its audit is to be audited too", async () => {
  const store = await WrittenStore.create(0);
  try {
    const {host} = store;
    host.writer().awaitAudits();
    for (const block of [1, 2, 3]) await store.apply(createBlock(block, 1));
    await host.noteAudited(3);
    assert.equal(host.reader.readUnaudited(), 4);
    await store.rollback(3);
    assert.equal(host.reader.readUnaudited(), 4);
    await store.rollback(1);
    assert.equal(host.reader.readUnaudited(), 2);
  } finally {
    await store.close();
  }
});

test("a store whose source needs no audit awaits none after a rollback either", async () => {
  const store = await WrittenStore.create(3);
  try {
    await store.rollback(2);
    await store.apply(createBlock(3, 2, 1));
    assert.deepEqual(await readHead({reader: store.host.reader} as StateStore), {
      earliest: 0,
      finalized: undefined,
      latest: 3,
    });
  } finally {
    await store.close();
  }
});

test("an empty store has no head, whatever was called final; its first block awaits its audit like any other", async () => {
  const store = await WrittenStore.create(-1);
  try {
    const {host} = store;
    const head = () => readHead({reader: host.reader} as StateStore);
    host.writer().markFinalized(7);
    await host.flush();
    assert.deepEqual(await head(), {earliest: undefined, finalized: undefined, latest: undefined});
    host.writer().awaitAudits();
    await store.apply(createBlock(0, 1));
    assert.deepEqual(await head(), {
      earliest: undefined,
      finalized: undefined,
      latest: undefined,
      unaudited: 0,
    });
    assert.throws(() => host.writer().finalizeHeld(0), {
      code: "NOT_AUDITED",
      message: "block 0 has not passed its audit yet: no block has passed one",
    });
  } finally {
    await store.close();
  }
});
