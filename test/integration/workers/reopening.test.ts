/** The store is opened again while it is in use, as after a refused write: no proof fails, and what is written next is kept. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {Engine} from "../../../workers/engine.ts";
import {createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {proveCalls} from "../../support/stores/proveCalls.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

const CALLS = Array.from({length: 5}, (_, block) => ({
  block,
  address: Object.keys(createLine(block).accounts)[0] as string,
  slots: [0n],
}));

test("proofs and reads of the head go on while the store is opened again, and blocks are imported after it", async t => {
  const store = await TemporaryStore.create();
  t.after(() => store.close());
  await store.mustImport([createLine(0), ...createLines(1, 4)], "last");
  const {engine} = store;
  const expected = await proveCalls(engine, CALLS);
  const opened = engine as unknown as {reopen(): Promise<void>};
  for (let round = 0; round < 3; round++) {
    let isOpen = false;
    const reopening = opened.reopen().finally(() => {
      isOpen = true;
    });
    for (let last = false; !last; ) {
      last = isOpen;
      assert.ok("hash" in engine.chain.readBlock(4));
      assert.deepEqual(await proveCalls(engine, CALLS), expected);
    }
    await reopening;
    await store.mustImport(createLines(5 + round, 5 + round), "last");
  }
  assert.equal(engine.chain.head().finalized, 7);
  await store.reopen();
  assert.equal(store.engine.chain.head().latest, 7);
  assert.deepEqual((await checkStore(store.directory)).found, []);
});

test("a store that cannot be opened again is reported with its damage, and no call hangs", async t => {
  const folder = new WorkFolder();
  const directory = await folder.importChain("db", 4, 4);
  const lost: Error[] = [];
  const onLost = (error: Error): void => void lost.push(error);
  const engine = await Engine.open({
    ...{directory, workers: 1, cacheBytes: 1 << 20, createIfMissing: false, onLost},
  });
  t.after(() => engine.close());
  await writeFile(join(directory, "CURRENT"), "spoiled");
  const reopening = (engine as unknown as {reopen(): Promise<void>}).reopen();
  await assert.rejects(reopening, {code: "STORE_DAMAGED", message: /^CURRENT, byte 0: it does not name/});
  assert.equal(lost.length, 1);
  await assert.rejects(proveCalls(engine, CALLS));
});
