/** Every write is on disk before it is acknowledged, and a rollback lowers the note of acknowledged blocks first. */
import assert from "node:assert/strict";
import {existsSync, readFileSync} from "node:fs";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {type TestContext, test} from "node:test";
import {Level} from "level";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {decodeNote, NOTE_FILE} from "../../../storage/files/acknowledgedNote.ts";
import {performStep} from "../../../storage/prune/pruneWriter.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {createBlock} from "../../support/stores/writtenStore.ts";

interface Write {
  readonly isSynced: boolean;
  /** What the note says before the write. */
  readonly acknowledged: number | undefined;
}

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
    if (args.length > 0) {
      note(args[1] as Options);
      return batch.apply(this, args);
    }
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
  const folder = await mkdtemp(join(tmpdir(), "proofd-synced-"));
  const directory = join(folder, "db");
  const writes = watchWrites(t, directory);
  const store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
  try {
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
  } finally {
    await store.close();
    await rm(folder, {recursive: true});
  }
});
