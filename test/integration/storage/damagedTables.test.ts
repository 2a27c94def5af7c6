/** Damage to LevelDB's tables: check names file and byte, LevelDB never gets to see what was verified to be damaged. */
import assert from "node:assert/strict";
import {open as openFile, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {uniformInt} from "pure-rand/distribution/uniformInt";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {requireUndamagedFiles} from "../../../storage/directory/openingCheck.ts";
import {TableBlocks} from "../../../storage/leveldb/tableBlocks.ts";
import {blockKey, META, META_KEYS} from "../../../storage/record/layout.ts";
import {sealRecord} from "../../../storage/record/record.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {propertyRuns} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {openEngine} from "../../support/stores/importedStore.ts";
import {tableParts} from "../../support/stores/tableParts.ts";
import {BLOCKS, TableStore} from "../../support/stores/tableStore.ts";
import {tamper} from "../../support/stores/tamper.ts";

const FLIPS_PER_PART = propertyRuns(1);

let store: TableStore;
before(async () => {
  store = await TableStore.create();
});

test("a flipped bit in any part of a table is a finding with the file's name, and nothing of the store is changed", async () => {
  const {parts} = tableParts(store.whole, store.table);
  assert.equal(parts.length, 9);
  const random = xoroshiro128plus(3);
  const directory = await store.copy();
  for (const {name, start, end} of parts)
    for (let i = 0; i < FLIPS_PER_PART; i++) {
      const [at, bit] = [uniformInt(random, start, end - 1), uniformInt(random, 0, 7)];
      await store.flip(directory, at, bit);
      const before = await hashFiles(directory);
      const {found, filesDamaged} = await checkStore(directory);
      assert.ok(filesDamaged && found.length > 0, `${name}, byte ${at}, bit ${bit}: nothing found`);
      for (const text of found) assert.ok(text.startsWith(`${store.file}, byte `), text);
      assert.deepEqual(await hashFiles(directory), before);
      await store.flip(directory, at, bit);
    }
  assert.deepEqual((await checkStore(directory)).found, []);
});

test("check ends with exit code 1, names file and byte, and says that the records were not checked", async () => {
  const part = tableParts(store.whole, store.table).parts.find(({name}) => name === "data block");
  const at = part?.start as number;
  const directory = await store.copy();
  await store.flip(directory, at, 3);
  const {code, stdout, stderr} = await runHere(["check", "--db", directory]);
  assert.equal(code, 1, stderr);
  assert.match(stdout, new RegExp(`^${store.file}, byte ${at}: data block: checksum`));
  const end = /1 finding; files are damaged or cannot be read, so their records were not checked\n$/;
  assert.match(stdout, end);
});

test("a store with a damaged index, filter, metaindex or footer is refused by name before LevelDB opens", async () => {
  const random = xoroshiro128plus(5);
  const {parts} = tableParts(store.whole, store.table);
  const directory = await store.copy();
  for (const {name, start, end} of parts) {
    if (name.startsWith("data")) continue;
    const [at, bit] = [uniformInt(random, start, end - 1), uniformInt(random, 0, 7)];
    await store.flip(directory, at, bit);
    const before = await hashFiles(directory);
    await assert.rejects(openEngine(directory), {
      code: "STORE_DAMAGED",
      message: new RegExp(`is damaged: ${store.file}, byte \\d+: (footer|[a-z]+ block): `),
    });
    assert.deepEqual(await hashFiles(directory), before);
    await store.flip(directory, at, bit);
  }
  await (await openEngine(directory)).close();
});

test("a table of a closed store over which LevelDB would end the process is refused by its name", async () => {
  const directory = await store.copy();
  const path = join(directory, store.file);
  const bytes = await readFile(path);
  // In each data block a first key of 3 bytes: LevelDB asserts that a key has 8.
  for (const {offset} of tableParts(store.whole, store.table).data) bytes[offset + 1] = 3;
  await writeFile(path, bytes);
  await assert.rejects(openEngine(directory), {
    code: "STORE_DAMAGED",
    message: new RegExp(`is damaged: ${store.file}, byte \\d+: data block: checksum`),
  });
});

test("a flipped bit in the key of a record that says what the store is refuses a closed store of any size", async () => {
  const directory = await store.copy();
  const bytes = await readFile(join(directory, store.file));
  for (const key of Object.values(META)) {
    // A table leaves out the bytes that a key shares with the one before it.
    const at = bytes.indexOf(key.subarray(-4));
    assert.ok(at > 0, key.toString());
    await store.flip(directory, at, 1);
    await assert.rejects(requireUndamagedFiles(directory, META_KEYS, 0), {
      code: "STORE_DAMAGED",
      message: new RegExp(`is damaged: ${store.file}, byte \\d+: data block: checksum`),
    });
    await store.flip(directory, at, 1);
  }
  // Damage to a page's value does not refuse the store: the page's own checksum notices it.
  await store.flip(directory, store.byteOfAPage(directory), 0);
  await requireUndamagedFiles(directory, META_KEYS);
});

test("a record that says what the store is and is gone refuses the store, and check names it", async () => {
  for (const key of Object.values(META)) {
    const directory = await store.copy();
    await tamper(directory, db => db.del(key));
    const isFormat = key.equals(META.format);
    await assert.rejects(openEngine(directory), {code: isFormat ? "FORMAT_MISMATCH" : "RECORD_MISSING"});
    if (isFormat) continue;
    const {found} = await checkStore(directory);
    assert.match(
      found.join("\n"),
      new RegExp(`RECORD_MISSING: ${key.subarray(1)} record is not in the store`),
    );
  }
});

test("a store of another format is refused by name, also if the release that wrote it has rolled it back", async () => {
  const directory = await store.copy();
  await tamper(directory, async db => {
    await db.put(META.format, sealRecord(META.format, Buffer.from('{"version":5,"suite":"sha256"}')));
    await db.del(blockKey(BLOCKS - 1));
  });
  for (const opening of [openEngine, checkStore])
    await assert.rejects(opening(directory), {
      code: "FORMAT_MISMATCH",
      message:
        /store format 5; this proofd reads format 6: use the release that wrote it, or import the chain again/,
    });
  for (const command of [
    ["snapshot", "--out", `${directory}.copy`],
    ["check"],
    ["rollback", "--to", "1", "--finalized"],
    ["serve"],
  ]) {
    const {code, stderr} = await runHere([...command, "--db", directory]);
    assert.match(stderr, /^error: .*store format 5;/);
    assert.equal(code, 2, command[0]);
  }
});

test("a sparse table whose footer names a block of gigabytes is a finding", async () => {
  const directory = await store.copy();
  const size = 2 ** 33;
  const whole = TableBlocks.open(directory, store.table);
  const {metaindex, index} = whole.readFooter();
  whole.close();
  const footer = Buffer.alloc(48);
  const handles = [metaindex.offset, metaindex.size, index.offset, size - 48 - 5 - index.offset];
  footer.set(handles.flatMap(varint));
  footer.set(Buffer.from("57fb808b247547db", "hex"), 40);
  const file = await openFile(join(directory, store.file), "r+");
  await file.write(footer, 0, 48, size - 48);
  await file.close();
  const sparse = TableBlocks.open(directory, store.table);
  try {
    assert.throws(() => sparse.readBlock(sparse.readFooter().index, "index block"), {
      code: "STORE_DAMAGED",
      message: new RegExp(`^${store.file}, byte ${index.offset}: a block of \\d+ bytes`),
    });
  } finally {
    sparse.close();
  }
});

/** A number as LevelDB writes it: seven bits per byte, lowest first. */
function varint(number: number): number[] {
  return number < 0x80 ? [number] : [(number % 0x80) + 0x80, ...varint(Math.floor(number / 0x80))];
}
