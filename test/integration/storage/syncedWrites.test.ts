/** Every write is on disk before it is acknowledged, and a rollback lowers the note of acknowledged blocks first. */
import assert from "node:assert/strict";
import {existsSync, readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {createRequire} from "node:module";
import {join} from "node:path";
import {type TestContext, test} from "node:test";
import {Level} from "level";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {decodeNote, NOTE_FILE, readNote} from "../../../storage/directory/acknowledgedNote.ts";
import {performStep} from "../../../storage/prune/pruneWriter.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {Importer} from "../../../workers/import/importer.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {longChain} from "../../support/chains/longChain.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {openOwned} from "../../support/stores/importedStore.ts";
import {createBlock} from "../../support/stores/writtenStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";
import {waitUntil} from "../../support/wait.ts";

interface Write {
  readonly isSynced: boolean;
  /** What the note says before the write. */
  readonly acknowledged: number | undefined;
}

/** What LevelDB's batches write with. */
const CHAINED = createRequire(import.meta.url)("classic-level/chained-batch").ChainedBatch.prototype as {
  readonly length: number;
  _write(options: Options): Promise<void>;
};

type Options = {readonly sync?: boolean} | undefined;

/** Writes what LevelDB is told to write, and keeps how. */
function watchWrites(t: TestContext, directory: string): Write[] {
  const writes: Write[] = [];
  const note = (options: Options): void => {
    const file = join(directory, NOTE_FILE);
    const acknowledged = existsSync(file) ? decodeNote(readFileSync(file))?.block : undefined;
    writes.push({isSynced: options?.sync === true, acknowledged});
  };
  const {batch} = Level.prototype as unknown as {
    batch: (...args: unknown[]) => {write: (options: Options) => unknown};
  };
  t.mock.method(Level.prototype, "batch", function (this: unknown, ...args: unknown[]) {
    assert.equal(args.length, 0);
    const chained = batch.call(this);
    const write = chained.write.bind(chained);
    chained.write = options => {
      note(options);
      return write(options);
    };
    return chained;
  });
  return writes;
}

test("a new store, blocks, pruning and a rollback are synced, the rollback after its note", async t => {
  const folder = makeTemporaryFolder();
  const directory = join(folder, "db");
  const writes = watchWrites(t, directory);
  const store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
  t.after(() => store.close());
  const writer = await BlockWriter.create(store);
  for (let number = 0; number < 6; number++) {
    await writer.apply(createBlock(number, 1));
    await writer.flush();
  }
  writer.markFinalized(3);
  await writer.flush();
  const run = {first: 0, next: 2};
  await performStep(store, {kind: "retire", run, from: 0, until: 2});
  await performStep(store, {kind: "remove", pages: Float64Array.of(1)});
  await performStep(store, {kind: "end"});
  assert.equal(writes.length, 1 + 6 + 1 + 3);
  await store.rollback(4);
  assert.ok(writes.length > 12, "a rollback removes blocks, then pages");
  assert.deepEqual(
    writes.filter(({isSynced}) => !isSynced),
    [],
  );
  assert.deepEqual(new Set(writes.slice(11).map(({acknowledged}) => acknowledged)), new Set([4]));
});

test("a rollback of many blocks is written in bounded parts, and one that ends early leaves a store that ends with a stored block", async t => {
  const folder = makeTemporaryFolder();
  const directory = join(folder, "db");
  const latest = 1200;
  let store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
  t.after(() => store.close());
  const writer = await BlockWriter.create(store);
  // Finalized beyond the newest block, and unverified from a block on that the first part keeps.
  writer.markFinalized(latest + 5);
  for (let number = 0; number <= latest; number++)
    await writer.apply(createBlock(number, 1), {isVerified: number < 100});
  await writer.flush();
  const {_write: write} = CHAINED;
  let parts = 0;
  t.mock.method(CHAINED, "_write", function (this: typeof CHAINED, options: Options) {
    if (++parts === 2) throw new Error("the process ends");
    assert.ok(this.length < 2100, "a part is bounded");
    return write.call(this, options);
  });
  await assert.rejects(store.rollbackFinalized(1), {code: "WRITE_FAILED"});
  t.mock.reset();
  await store.close();
  store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  const {reader} = store;
  assert.deepEqual([await reader.latest(), reader.readFinalized(), reader.readUnverified()], [176, 176, 100]);
  assert.deepEqual((await checkStore(directory)).found, []);
  await store.rollbackFinalized(1);
  assert.deepEqual(
    [await reader.latest(), reader.readFinalized(), reader.readUnverified()],
    [1, 1, 2 ** 48 - 1],
  );
});

test("a write within a block that is then refused acknowledges the blocks before it", async t => {
  const folder = makeTemporaryFolder();
  const directory = join(folder, "db");
  const store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
  t.after(() => store.close());
  const writer = await BlockWriter.create(store);
  for (const number of [0, 1]) await writer.apply(createBlock(number, 1));
  const block = createBlock(2, 1);
  const code = new Uint8Array(9 << 20);
  block.accounts.add({address: new Uint8Array(20).fill(0xbb), change: {code}});
  const large = {...block, expectedStateRoot: new Uint8Array(32)};
  await assert.rejects(writer.apply(large), {code: "STATE_ROOT_MISMATCH"});
  await writer.flush();
  assert.equal(await store.reader.latest(), 1);
  assert.equal((await readNote(directory))?.block, 1);
});

const LAST = 5;
for (const refused of [undefined, 3])
  test(`the next block is applied while LevelDB writes one, one write at a time${refused === undefined ? "" : "; of blocks after a refused write nothing is kept"}`, async t => {
    const folder = makeTemporaryFolder();
    const path = join(folder, "chain.ndjson");
    await writeFile(path, encodeLines(longChain(LAST + 1, 3)));
    const store = await openOwned(join(folder, "db"));
    const {port1: port} = new MessageChannel();
    // Each block is written alone.
    let now = 0;
    t.mock.method(performance, "now", () => {
      now += 10_000;
      return now;
    });
    const seen: string[] = [];
    let applied = -1;
    const {commit} = BlockWriter.prototype;
    t.mock.method(
      BlockWriter.prototype,
      "commit",
      function (this: BlockWriter, ...args: Parameters<typeof commit>) {
        commit.apply(this, args);
        applied = this.latest ?? -1;
      },
    );
    const {_write: write} = CHAINED;
    let block = -1;
    t.mock.method(CHAINED, "_write", async function (this: typeof CHAINED, options: Options) {
      const own = ++block;
      seen.push(`write ${own}`);
      await waitUntil("the next block to be applied", () => applied === Math.min(own + 1, LAST));
      if (own === refused) throw new Error("no room");
      await write.call(this, options);
      seen.push(`written ${own}`);
    });
    try {
      const job = {source: {kind: "diffs", path}, port, allowUnverified: true} as const;
      const importer = await Importer.create(store, job, event => {
        if ("head" in event) seen.push(`announced ${event.head.latest}`);
      });
      const outcome = await importer.run();
      const written = refused ?? LAST + 1;
      const expected = Array.from({length: written}, (_, i) => [
        `write ${i}`,
        `written ${i}`,
        `announced ${i}`,
      ]);
      if (refused !== undefined) expected.push([`write ${refused}`]);
      assert.deepEqual([...new Set(seen)], expected.flat());
      assert.deepEqual(
        {...outcome, message: undefined},
        {
          ...(refused === undefined
            ? {ok: true, alreadyStored: 0, stopped: false}
            : {ok: false, writeFailed: true, isFinal: false, needsSnapshot: false}),
          ...{head: outcome.head, blocks: written, message: undefined},
        },
      );
      assert.equal(outcome.head.latest, written - 1);
    } finally {
      port.close();
      await store.close();
    }
    assert.deepEqual((await checkStore(join(folder, "db"))).found, []);
  });
