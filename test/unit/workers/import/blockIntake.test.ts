import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import type {MessagePort} from "node:worker_threads";
import type {SourceBlock} from "../../../../nodes/blocks/sourceStep.ts";
import {AccountDifferences} from "../../../../storage/block/accountDifferences.ts";
import {BlockIntake} from "../../../../workers/import/blockIntake.ts";
import {createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

function blockOf(number: number, parentBranch: number): SourceBlock {
  const difference = createBlock(number, 1, parentBranch);
  const {hash, parentHash} = difference.header;
  return {
    ...({kind: "block", number, hash, parentHash, origin: "the node", isExecuted: true} as const),
    difference: async () => difference,
  };
}

let store: WrittenStore;
let intake: BlockIntake;
let port: MessagePort;
beforeEach(async () => {
  store = await WrittenStore.create(3);
  port = new MessageChannel().port1;
  const job = {source: {kind: "diffs", path: "-"}, port, allowUnverified: false} as const;
  intake = await BlockIntake.create(store.store, job, store.host.signal, () => {});
});
afterEach(async () => {
  port.close();
  await store.close();
});

test("a block that a node gave is passed over once an order has removed or replaced its parent", async () => {
  await intake.take(blockOf(4, 1));
  await intake.flush();
  await intake.rollback(2);
  await intake.take(blockOf(5, 1));
  await intake.take(blockOf(3, 2));
  assert.equal(intake.writer.latest, 2);
  await intake.take(blockOf(3, 1));
  assert.equal(intake.writer.latest, 3);
  assert.equal(intake.alreadyStored, 0);
});

test("accounts are counted once, though a block makes them anew or is refused at first", async () => {
  const block = blockOf(4, 1);
  const {header, accounts} = await block.difference();
  const {address} = accounts.at(0);
  const changed = new AccountDifferences();
  changed.add({address, change: {reset: true, balance: 2n}});
  changed.add({address: new Uint8Array(20).fill(0xbb), change: {balance: 1n}});
  const difference = async () => ({header, accounts: changed});
  await assert.rejects(intake.take({...block, difference, isExecuted: false}), /unverified/);
  assert.equal(intake.describe().accounts, 0);
  await intake.take({...block, difference});
  assert.equal(intake.describe().accounts, 2);
});
