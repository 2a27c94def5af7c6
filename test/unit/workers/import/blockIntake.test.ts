import assert from "node:assert/strict";
import {test} from "node:test";
import {BlockIntake} from "../../../../workers/import/blockIntake.ts";
import type {SourceBlock} from "../../../../workers/import/sourceStep.ts";
import {createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

function blockOf(number: number, parentBranch: number): SourceBlock {
  const difference = createBlock(number, 1, parentBranch);
  const {hash, parentHash} = difference.header;
  return {
    ...({kind: "block", number, hash, parentHash, origin: "the node", isExecuted: true} as const),
    difference: async () => difference,
  };
}

test("a block that a node gave is passed over once an order has removed or replaced its parent", async () => {
  const store = await WrittenStore.create(3);
  const {port1: port} = new MessageChannel();
  try {
    const job = {source: {kind: "diffs", path: "-"}, port, allowUnverified: false} as const;
    const intake = await BlockIntake.create(store.store, job, store.host.signal, () => {});
    await intake.take(blockOf(4, 1));
    await intake.flush();
    await intake.rollback(2);
    await intake.take(blockOf(5, 1));
    await intake.take(blockOf(3, 2));
    assert.equal(intake.writer.latest, 2);
    await intake.take(blockOf(3, 1));
    assert.equal(intake.writer.latest, 3);
    assert.equal(intake.alreadyHeld, 0);
  } finally {
    port.close();
    await store.close();
  }
});
