/** Snapshots of a store that is written, pruned and compacted meanwhile: whole at any moment, and never changed later. */
import assert from "node:assert/strict";
import {cp, mkdir, mkdtemp, readdir, rename, rm, stat, truncate, unlink, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {SnapshotFiles} from "../../../storage/directory/snapshotFiles.ts";
import {createRetention} from "../../../storage/prune/retention.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {makeSnapshot, type Snapshot} from "../../../storage/storeSnapshot.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {longChain} from "../../support/chains/longChain.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {propertyRuns} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {importInto, openOwned} from "../../support/stores/importedStore.ts";
import {pruneStore} from "../../support/stores/prunedStore.ts";
import {TableStore} from "../../support/stores/tableStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const {signal} = new AbortController();
const NEWEST = createRetention({kind: "newest", blocks: 3}, {from: () => undefined, last: () => undefined});

let store: TableStore;
before(async () => {
  store = await TableStore.create();
});

/** Writes out what LevelDB has in memory, and merges all tables into new ones: the old ones are deleted. */
function compact({db}: StateStore): Promise<void> {
  const compactable = db as unknown as {compactRange(start: Buffer, end: Buffer): Promise<void>};
  return compactable.compactRange(Buffer.alloc(0), Buffer.alloc(1, 0xff));
}

/** Tables of the snapshot by the names that they have there, with the hash of their bytes. */
async function hashTables(directory: string): Promise<Record<string, string>> {
  const files = Object.entries(await hashFiles(directory));
  return Object.fromEntries(files.filter(([name]) => name.endsWith(".ldb")));
}

async function importChunk(owned: StateStore, path: string, from: number, to: number): Promise<void> {
  await writeFile(path, encodeLines(longChain(to, 20).slice(from)));
  const outcome = await importInto(owned, {kind: "diffs", path}, {finalized: "last"});
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
}

test("snapshots and checks beside imports, pruning and compactions see one moment each, and nothing changes a snapshot later", async () => {
  const folder = makeTemporaryFolder();
  const directory = join(folder, "db");
  const owned = await openOwned(directory);
  const path = join(folder, "blocks.ndjson");
  const wanted = propertyRuns(4);
  const made: (Snapshot & {readonly out: string; readonly tables: Record<string, string>})[] = [];
  let last = 3;
  let goesOn = true;
  // Until there are snapshots enough, however few fit between two chunks.
  const write = async (): Promise<void> => {
    for (; goesOn; last += 4) {
      await importChunk(owned, path, last + 1, last + 5);
      await pruneStore(owned, NEWEST, {pages: 64, goesOn: () => true});
      await compact(owned);
    }
  };
  const take = async (): Promise<void> => {
    while (goesOn && (made.length < wanted || new Set(made.map(({block}) => block)).size < 3)) {
      const out = join(folder, `snapshot-${made.length}`);
      const snapshot = await makeSnapshot({directory, out, signal});
      made.push({...snapshot, out, tables: await hashTables(out)});
      assert.deepEqual((await checkStore(directory)).found, []);
    }
  };
  await importChunk(owned, path, 0, last + 1);
  await compact(owned);
  const ended = (): void => {
    goesOn = false;
  };
  await Promise.all([write().finally(ended), take().finally(ended)]);
  const kept = new Set(await readdir(directory));
  const deleted = made.flatMap(({tables}) => Object.keys(tables)).filter(name => !kept.has(name));
  assert.ok(deleted.length > 0, "the store has deleted tables that snapshots have");
  for (const {out, block, hash, stateRoot, tables, bytes} of made) {
    assert.deepEqual(await hashTables(out), tables);
    const sizes = await Promise.all(
      Object.keys(tables).map(async name => (await stat(join(out, name))).size),
    );
    assert.equal(
      bytes.linked,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    assert.deepEqual((await checkStore(out)).found, []);
    const held = owned.reader.headerRecordOrThrow(block);
    assert.deepEqual([hash, stateRoot], [held.header.hash, held.stateRoot]);
  }
  // A snapshot that goes on as a store of its own ends as the store did, and leaves the store's tables alone.
  const [first] = made;
  const before = await hashTables(directory);
  const resumed = await openOwned(first?.out as string);
  await importChunk(resumed, path, 0, last + 1);
  await pruneStore(resumed, NEWEST, {pages: 64, goesOn: () => true});
  await compact(resumed);
  assert.equal(await resumed.reader.latest(), last);
  assert.deepEqual(
    resumed.reader.headerRecordOrThrow(last).stateRoot,
    owned.reader.headerRecordOrThrow(last).stateRoot,
  );
  assert.deepEqual(await hashTables(directory), before);
  for (const {db} of [resumed, owned]) await db.close();
  assert.deepEqual((await checkStore(directory)).found, []);
});

/** Makes one of `directory`, which must fail and leave nothing. @returns its error's message */
async function refusedSnapshot(directory: string): Promise<string> {
  const parent = await mkdtemp(join(store.folder, "refused-"));
  const error = await makeSnapshot({directory, out: join(parent, "out"), signal}).then(
    () => assert.fail("a snapshot of a damaged store was made"),
    (error: Error) => error,
  );
  assert.deepEqual(await readdir(parent), []);
  return error.message;
}

test("what a start of the store would refuse is named, and no snapshot is made of it", async () => {
  const cases: Record<string, [(directory: string) => Promise<void>, RegExp]> = {
    "a table is gone": [async at => unlink(join(at, store.file)), /\d+\.ldb: it is missing/],
    "a table's index": [
      async at => store.flip(at, (await stat(join(at, store.file))).size - 60, 3),
      /\d+\.ldb, byte \d+: /,
    ],
    "acknowledged blocks are gone": [
      async at => {
        for (const name of await readdir(at)) if (name.endsWith(".log")) await unlink(join(at, name));
      },
      /\d+\.log: it is missing/,
    ],
    "the note names a later block": [
      async at => writeFile(join(at, "ACKNOWLEDGED"), '{"block":9,"log":0,"bytes":0,"crc":"5d17734a"}\n'),
      /ACKNOWLEDGED: block 9 was stored, but the newest is block 3/,
    ],
  };
  for (const [name, [damage, pattern]] of Object.entries(cases)) {
    const directory = await store.copy();
    await damage(directory);
    const message = await refusedSnapshot(directory);
    assert.match(message, pattern, name);
    assert.ok(message.includes(directory), `${name}: ${message} names the store`);
  }
});

test("a snapshot of a closed store opens, has the store's blocks and links its tables", async () => {
  const before = await hashFiles(store.whole);
  const out = join(store.folder, "closed");
  const {block, finalized, bytes} = await makeSnapshot({directory: store.whole, out, signal});
  assert.deepEqual([block, finalized], [3, 3]);
  assert.deepEqual(await hashFiles(store.whole), before);
  const [table, link] = [await stat(join(store.whole, store.file)), await stat(join(out, store.file))];
  assert.deepEqual([link.ino, link.dev, bytes.linked], [table.ino, table.dev, table.size]);
  assert.deepEqual((await checkStore(out)).found, []);
  const opened = await StateStore.open({directory: out, role: "owner", cacheBytes: 0});
  assert.equal(await opened.reader.latest(), 3);
  await opened.close();
});

test("tables and logs that are deleted before they are copied are copied all the same", async t => {
  const other = await mkdtemp("/dev/shm/proofd-snapshots-").catch(() => undefined);
  if (other === undefined) return notRun(t, "no file system in /dev/shm");
  const directory = await store.copy();
  const owned = await openOwned(directory);
  try {
    await importChunk(owned, join(store.folder, "held.ndjson"), 4, 6);
    const taken = await SnapshotFiles.take(directory, other);
    const hasLinks = (await readdir(other)).some(name => name.endsWith(".ldb"));
    const names = new Set((await readdir(directory)).filter(name => /\d\.(ldb|log)$/.test(name)));
    await compact(owned);
    for (const name of await readdir(directory)) names.delete(name);
    assert.ok(names.has(store.file) && [...names].some(name => name.endsWith(".log")), [...names].join(" "));
    await taken.copy(() => {}, signal);
    taken.close();
    if (hasLinks) return notRun(t, "/dev/shm is no file system of its own");
    for (const name of names) assert.ok((await readdir(other)).includes(name), name);
    const {found, blocks} = await checkStore(other);
    assert.deepEqual([found, blocks], [[], 6]);
  } finally {
    await owned.close();
    await rm(other, {recursive: true});
  }
});

test("a batch that was being written is not in the snapshot", async () => {
  const directory = await store.copy();
  const owned = await openOwned(directory);
  const path = join(store.folder, "torn.ndjson");
  await importChunk(owned, path, 4, 6);
  await owned.close();
  const [log = ""] = (await readdir(directory)).filter(name => name.endsWith(".log"));
  const {size} = await stat(join(directory, log));
  await truncate(join(directory, log), size - 7);
  await unlink(join(directory, "ACKNOWLEDGED"));
  const out = join(store.folder, "untorn");
  const {block} = await makeSnapshot({directory, out, signal});
  assert.ok(block < 5, `block ${block}`);
  assert.ok((await stat(join(out, log))).size < size - 7);
  assert.deepEqual((await checkStore(out)).found, []);
});

test("what killed snapshots have left is removed, and other folders are named and stay", async () => {
  const parent = await mkdtemp(join(store.folder, "leftovers-"));
  // No process has such a number.
  const dead = 2 ** 30;
  const whole = join(parent, "whole");
  await makeSnapshot({directory: store.whole, out: whole, signal});
  await rename(whole, join(parent, `monday.unfinished-${dead}`));
  await mkdir(join(parent, `tuesday.unfinished-${dead}.removing`));
  await mkdir(join(parent, `wednesday.unfinished-${dead}`, "mine"), {recursive: true});
  const used = join(parent, `saturday.unfinished-${dead}`);
  await cp(store.whole, used, {recursive: true});
  await mkdir(join(parent, `thursday.unfinished-${process.ppid}`));
  const seen: string[] = [];
  await makeSnapshot({
    directory: store.whole,
    out: join(parent, "friday"),
    onLeftover: ({path, reason = "removed"}) => seen.push(`${path.slice(parent.length + 1)}: ${reason}`),
    signal,
  });
  assert.deepEqual(seen.sort(), [
    `monday.unfinished-${dead}: removed`,
    `saturday.unfinished-${dead}: it has LOCK, which no snapshot has`,
    `thursday.unfinished-${process.ppid}: process ${process.ppid} may be at work on it`,
    `tuesday.unfinished-${dead}.removing: removed`,
    `wednesday.unfinished-${dead}: it has mine, which no snapshot has`,
  ]);
  assert.deepEqual((await readdir(parent)).sort(), [
    "friday",
    `saturday.unfinished-${dead}`,
    `thursday.unfinished-${process.ppid}`,
    `wednesday.unfinished-${dead}`,
  ]);
});
