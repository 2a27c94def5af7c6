/** The note ACKNOWLEDGED: a store without the block that it names is refused. What it does not name may be lost. */
import assert from "node:assert/strict";
import {cp, mkdir, readdir, readFile, rm, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {decodeNote, readNote, writeNote} from "../../../storage/directory/acknowledgedNote.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {longChain} from "../../support/chains/longChain.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {sampleOf} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importSource, openEngine} from "../../support/stores/importedStore.ts";
import {
  assertRefused,
  BLOCKS,
  LoggedStores,
  latestOf,
  logOf,
  NOTE,
} from "../../support/stores/loggedStores.ts";
import {removeBlockRecord} from "../../support/stores/tamper.ts";

let stores: LoggedStores;
// In a hook: the tests of other files in this process run while this one is loaded, and some mock LevelDB.
before(async () => {
  stores = await LoggedStores.create();
});

test("a note is written over the older slot: broken off at any byte, the file says what it said", async () => {
  const directory = await stores.copyOf(stores.single);
  const path = join(directory, NOTE);
  for (let block = 8; block < BLOCKS; block++) {
    const [before, after] = stores.notes.slice(block - 1, block + 1) as [Buffer, Buffer];
    const ends = [...after.keys()].filter(at => after[at] !== before[at]).map(at => at + 1);
    assert.ok(Math.max(...ends) - Math.min(...ends) < 128, "one slot differs");
    const last = Math.max(...ends);
    for (const end of ends) {
      await writeFile(path, Buffer.concat([after.subarray(0, end), before.subarray(end)]));
      const note = await readNote(directory);
      assert.equal(note?.block, end === last ? block : block - 1, `block ${block}, cut at ${end}`);
      // The next note goes over what was broken off, and never over the one that says something.
      writeNote(directory, {block: 99, log: 99, bytes: 99}, false);
      const [cut, whole] = last < 4096 ? [0, 4096] : [4096, 0];
      const kept = (await readFile(path)).subarray(end === last ? cut : whole);
      assert.equal(decodeNote(kept.subarray(0, 4096))?.block, note?.block);
      assert.equal((await readNote(directory))?.block, 99);
    }
  }
});

test("a note that is not what was written is named", async () => {
  const directory = await stores.copyOf(stores.single);
  const note = stores.notes.at(-1) as Buffer;
  const message = new RegExp(`${NOTE}: it does not decode`);
  for (let at = 0; at < 60; at++) {
    const flipped = Buffer.from(note);
    for (const slot of [0, 4096]) flipped[slot + at] = (flipped[slot + at] as number) ^ 1;
    await writeFile(join(directory, NOTE), flipped);
    await assert.rejects(readNote(directory), {code: "STORE_DAMAGED", message}, `byte ${at}`);
  }
  await assertRefused(directory, message);
  // Nobody writes over it what could be taken for the newest note.
  for (const length of [1, 60, 4096, 4097]) {
    await writeFile(join(directory, NOTE), note.subarray(0, length));
    writeNote(directory, {block: 5, log: 5, bytes: 5}, false);
    assert.deepEqual(await readNote(directory), {block: 5, log: 5, bytes: 5}, `${length} bytes`);
  }
});

test("a store whose blocks are gone is refused and not made anew", async () => {
  const files = await stores.copyOf(stores.single);
  for (const name of await readdir(files)) if (name !== NOTE) await rm(join(files, name));
  await assertRefused(files, /without its CURRENT file/);

  // Another, empty LevelDB in its place.
  const replaced = await stores.copyOf(stores.single);
  for (const name of await readdir(replaced)) if (name !== NOTE) await rm(join(replaced, name));
  const empty = join(stores.folder, "empty");
  await mkdir(empty);
  await (await openEngine(empty)).close();
  await cp(empty, replaced, {recursive: true});
  await assert.rejects(openEngine(replaced), {code: "STORE_DAMAGED"});
  const {found} = await checkStore(replaced);
  assert.match(found.join("\n"), /block 11 .*held|byte \d+: .*acknowledged blocks are lost/);
});

test("an older copy of the files under a newer note is refused, and check says what is lost", async () => {
  const directory = await stores.copyOf(stores.single);
  // Its tables are those of 12 blocks; then the newest one goes, behind proofd's back.
  assert.equal(await latestOf(directory), BLOCKS - 1);
  await removeBlockRecord(directory, BLOCKS - 1);
  await assert.rejects(openEngine(directory), {
    code: "STORE_DAMAGED",
    message: /is damaged: ACKNOWLEDGED: block 11 was stored, but the newest is block 10/,
  });
  const {found} = await checkStore(directory);
  assert.ok(found.includes("ACKNOWLEDGED: block 11 was stored, but the newest is block 10"));
});

test("a rollback keeps the note right whenever it is broken off", async () => {
  const directory = await stores.copyOf(stores.single);
  const engine = await openEngine(directory);
  await engine.writes.rollback(8);
  assert.equal((await readNote(directory))?.block, 8);
  await engine.close();
  assert.equal(await latestOf(directory), 8);

  // The note is lowered and on disk, the blocks are still there.
  const early = await stores.copyOf(stores.single);
  await writeFile(join(early, NOTE), stores.notes[8] as Buffer);
  assert.equal(await latestOf(early), BLOCKS - 1);

  // The blocks are gone; of the notes written since, the oldest that may be on disk is the lowered one.
  const late = await stores.copyOf(directory);
  await writeFile(join(late, NOTE), stores.notes[8] as Buffer);
  assert.equal(await latestOf(late), 8);
  await stores.importBlocks(late, BLOCKS);
  assert.equal((await readNote(late))?.block, BLOCKS - 1);
  assert.equal(await latestOf(late), BLOCKS - 1);
});

test("a rollback of which the log lost the end refuses the store: blocks that were removed do not come back", async () => {
  const directory = await stores.copyOf(stores.single);
  const engine = await openEngine(directory);
  await engine.writes.rollback(8);
  await engine.close();
  const name = await logOf(directory);
  await truncate(join(directory, name), 0);
  await assertRefused(directory, new RegExp(`${name}, byte 0: .*acknowledged blocks are lost`));
});

test("a log that ends before the byte that was acknowledged refuses the store", async () => {
  const log = await readFile(join(stores.single, await logOf(stores.single)));
  const name = await logOf(stores.single);
  const inMiddle = (stores.sizes[5] as number) + 100;
  const ends = [0, inMiddle, 5, stores.sizes[4] as number, log.length - 1, 32768];
  for (const end of sampleOf(ends, 2)) {
    const directory = await stores.copyOf(stores.single);
    await truncate(join(directory, name), end);
    await assertRefused(
      directory,
      new RegExp(`${name}, byte \\d+: .*acknowledged blocks are lost`),
      `cut at ${end}`,
    );
  }
  const gone = await stores.copyOf(stores.single);
  await rm(join(gone, name));
  await assertRefused(gone, new RegExp(`${name}: it is missing`));
});

test("what a crash leaves of a batch that was not acknowledged is no damage", async () => {
  const name = await logOf(stores.single);
  const [before, after] = stores.sizes.slice(5, 7) as [number, number];
  // In the last two the batch got to the disk whole, its note did not.
  const ends = [before + 1, before + 7, before + 3000, after - 1, after].flatMap(end =>
    [0, 5000].map(padding => ({end, padding, latest: end === after ? 6 : 5})),
  );
  for (const {end, padding, latest} of sampleOf(ends, 3)) {
    const directory = await stores.copyOf(stores.single);
    await truncate(join(directory, name), end);
    await truncate(join(directory, name), end + padding);
    await writeFile(join(directory, NOTE), stores.notes[5] as Buffer);
    assert.equal(await latestOf(directory), latest, `log ends at ${end}, then ${padding} zeros`);
    if (end > before + 1) continue;
    // The rest is imported as if nothing had been.
    await stores.importBlocks(directory, BLOCKS);
    assert.equal(await latestOf(directory), BLOCKS - 1);
  }
});

test("a store without a note opens, also with a torn log, and gets one", async () => {
  const name = await logOf(stores.single);
  const directory = await stores.copyOf(stores.single);
  await rm(join(directory, NOTE));
  await truncate(join(directory, name), (stores.sizes[7] as number) - 10);
  assert.equal(await latestOf(directory), 6);
  assert.match(
    await readFile(join(directory, NOTE), "utf8"),
    /^\{"block":6,"log":\d+,"bytes":\d+,"crc":"[0-9a-f]{8}"\} *\n *$/,
  );
  for (const nothing of [Buffer.alloc(0), Buffer.alloc(64)]) {
    const other = await stores.copyOf(stores.single);
    await writeFile(join(other, NOTE), nothing);
    assert.equal(await latestOf(other), BLOCKS - 1);
  }
});

test("after a write that the disk refused nothing more is written, and the store opens with all that was acknowledged", async () => {
  const directory = await stores.copyOf(stores.single);
  const path = join(stores.folder, "wide.ndjson");
  await writeFile(path, encodeLines(longChain(BLOCKS + 16, 60)));
  const limited = fileURLToPath(new URL("../../support/processes/limitedProcess.js", import.meta.url));
  // 1.2 MB: the log of the first blocks has 0.9 of it, the one that follows gets there within a batch.
  const limit = 'ulimit -f "$1"; shift; exec "$@"';
  const args = ["-c", limit, "sh", "2400", process.execPath, limited, directory, path];
  const {stdout} = await runChild("sh", args);
  const {acknowledged, first, second, rollback} = JSON.parse(stdout);
  assert.equal(first.ok, false);
  assert.match(first.message, /LevelDB says .*File too large/);
  for (const message of [second.message, rollback])
    assert.match(
      message,
      /^nothing is written until the disk takes writes again: LevelDB says .*File too large/,
    );
  const held = await latestOf(directory);
  assert.ok(
    held !== undefined && held >= Math.max(acknowledged ?? 0, BLOCKS - 1),
    `${held} of ${acknowledged}`,
  );
  const outcome = await importSource(directory, {kind: "diffs", path}, {finalized: 0});
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  assert.equal(outcome.head.latest, BLOCKS + 15);
});
