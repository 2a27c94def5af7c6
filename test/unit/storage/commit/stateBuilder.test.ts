/** A store that begins in the middle of a chain: what is not known of the blocks before is not asked for. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {BlockWriter} from "../../../../storage/commit/blockWriter.ts";
import {createEvent, createStep, rootOf} from "../../../support/chains/finalityEvents.ts";
import {createBlock, hashOf, WrittenStore} from "../../../support/stores/writtenStore.ts";

let store: WrittenStore;
beforeEach(async () => {
  store = await WrittenStore.begun(5, 8);
});
afterEach(() => store.close());

test("blocks from the first one on are stored, and those before it are not missing", async () => {
  const {reader} = store.store;
  assert.equal(reader.readEarliest(), 5);
  assert.equal(reader.readFinalized(), 5);
  for (const block of [5, 8]) assert.equal(reader.blockOrThrow(block).header.number, block);
  const message = "block 4 is not in the store, which begins with block 5";
  for (const read of [
    () => reader.blockOrThrow(4),
    () => reader.headerRecordOrThrow(4),
    () => reader.blockHashOrThrow(4),
  ])
    assert.throws(read, {code: "BLOCK_UNKNOWN", message});
  assert.throws(() => reader.blockOrThrow(9), {
    code: "BLOCK_UNKNOWN",
    message: "block 9 is not in the store",
  });
});

test("blocks before the first one are passed over, whatever their hash, and others are compared", () => {
  const writer = store.host.writer;
  assert.equal(writer.isStored({number: 4, hash: hashOf(4, 2)}), true);
  assert.equal(writer.isStored({number: 5, hash: hashOf(5, 1)}), true);
  assert.throws(() => writer.isStored({number: 5, hash: hashOf(5, 2)}), {code: "BLOCK_CONFLICT"});
});

test("a finalization that begins before the first block is compared at its end", async () => {
  const {reader} = store.store;
  const record = async (final: Uint8Array): Promise<void> => {
    const writer = await BlockWriter.create(store.store);
    const event = createEvent(2, 7, 1, {parent: rootOf(1), final});
    writer.recordFinality({...createStep(1, event), root: "suite"});
    await writer.flush();
  };
  await assert.rejects(record(rootOf(7)), {code: "FINALITY_CONFLICT"});
  await record(reader.blockOrThrow(7).stateRoot);
  assert.equal(reader.finalizations.covering(6)?.endBlock, 7);
  assert.equal(reader.readFinalized(), 7);
});

test("a rollback ends at the first block, also one of finalized blocks", async () => {
  await assert.rejects(store.store.rollback(4), {code: "BLOCK_UNKNOWN"});
  await assert.rejects(store.store.rollbackFinalized(4), {code: "BLOCK_UNKNOWN"});
  await store.store.rollbackFinalized(5);
  assert.equal(await store.store.reader.latest(), 5);
  await store.host.writer.reload();
  await store.apply(createBlock(6, 2, 1));
  assert.equal(await store.store.reader.latest(), 6);
});
