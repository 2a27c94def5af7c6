import assert from "node:assert/strict";
import {test} from "node:test";
import {performStep} from "../../../../storage/prune/pruneWriter.ts";
import {WrittenStore} from "../../../support/stores/writtenStore.ts";

test("neither the newest finalized block nor one above it is pruned, nor any by a run that is empty", async () => {
  const written = await WrittenStore.create(5);
  const {store, host} = written;
  try {
    const retire = (first: number, next: number) =>
      performStep(store, {kind: "retire", run: {first, next}, from: first, until: next});
    await assert.rejects(retire(0, 1), {code: "FINALIZED"});
    host.writer().markFinalized(3);
    await host.writer().flush();
    for (const [first, next] of [
      [0, 4],
      [3, 4],
      [4, 6],
      [2, 2],
    ] as const)
      await assert.rejects(retire(first, next), {code: "FINALIZED"});
    for (let block = 0; block <= 5; block++) assert.equal(store.reader.readPruned(block), undefined);
    await retire(0, 3);
    assert.equal(store.reader.readEarliest(), 3);
  } finally {
    await written.close();
  }
});
