/** Which blocks a store can prove, and which of them no root vouches for. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {MAX_U48} from "../../../../storage/record/layout.ts";
import type {StateStore} from "../../../../storage/stateStore.ts";
import {readHead} from "../../../../workers/threads/storedHead.ts";
import {createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

let store: WrittenStore;
beforeEach(async () => {
  store = await WrittenStore.create(-1);
});
afterEach(() => store.close());

const unverified = () => store.host.reader.readUnverified();

/** Applies blocks, all of which a root vouches for, or none. */
async function apply(isVerified: boolean, ...blocks: readonly number[]): Promise<void> {
  for (const block of blocks) await store.apply(createBlock(block, 1), isVerified);
}

test("the head has what is stored, however far ahead the mark of finality is", async () => {
  const {host} = store;
  const head = () => readHead({reader: host.reader} as StateStore);
  host.writer.markFinalized(7);
  await host.writer.flush();
  assert.deepEqual(await head(), {earliest: undefined, finalized: undefined, latest: undefined});
  await apply(true, 0, 1);
  assert.deepEqual(await head(), {earliest: 0, finalized: 1, latest: 1});
});

test("a block is unverified until a root vouches for it or for a later one, and a refused block changes nothing", async () => {
  await apply(true, 0, 1);
  assert.equal(unverified(), MAX_U48);
  await apply(false, 2, 3);
  assert.equal(unverified(), 2);
  const wrong = {...createBlock(4, 1), expectedStateRoot: new Uint8Array(32)};
  await assert.rejects(store.apply(wrong), {code: "STATE_ROOT_MISMATCH"});
  const {writer} = store.host;
  const {accounts} = writer;
  const prepared = await writer.prepare(createBlock(4, 1));
  prepared.drop();
  assert.equal(writer.batch.hasPending, false);
  assert.equal(writer.accounts, accounts);
  assert.equal(unverified(), 2);
  await apply(true, 4);
  assert.equal(unverified(), MAX_U48);
  await apply(false, 5);
  assert.equal(unverified(), 5);
});

test("a rollback keeps the mark of the blocks that stay", async () => {
  await apply(true, 0);
  await apply(false, 1, 2, 3);
  await store.rollback(2);
  assert.equal(unverified(), 1);
  await store.rollback(0);
  assert.equal(unverified(), MAX_U48);
  await apply(true, 1);
  assert.equal(unverified(), MAX_U48);
});

for (const [kind, names, after, what] of [
  ["suite", "stateRoot", 3, "whose root is that of the trees vouches for blocks up to its end"],
  ["none", "stateRoot", 1, "whose root is not compared vouches for none"],
  ["suite", "blockHash", 1, "by block hash vouches for none"],
] as const)
  test(`a finalization of layer 1 ${what}`, async () => {
    await apply(true, 0);
    await apply(false, 1, 2, 3);
    const {host} = store;
    const {stateRoot, header} = host.reader.blockOrThrow(2);
    const hash = Buffer.alloc(32);
    const event = {
      ...{
        startBlock: 1,
        endBlock: 2,
        names,
        parent: undefined,
        final: names === "blockHash" ? header.hash : stateRoot,
      },
      ...{layer1Block: 9, layer1Hash: hash, transactionHash: hash, logIndex: 0},
    };
    const mark = {block: 9, blockHash: hash, contract: Buffer.alloc(20)};
    host.writer.recordFinality({events: [event], mark, root: kind});
    await host.writer.flush();
    assert.equal(unverified(), after);
    assert.equal(host.reader.readFinalized(), 2);
  });
