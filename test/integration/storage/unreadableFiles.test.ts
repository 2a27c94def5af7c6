/** Files of a store that the system does not open or the disk does not read: each is named, and the others are still looked at. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {mkdir, readdir, readFile, rm, symlink, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {readManifest} from "../../../storage/leveldb/manifest.ts";
import {TableBlocks} from "../../../storage/leveldb/tableBlocks.ts";
import {checkTables} from "../../../storage/leveldb/tableCheck.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {openEngine} from "../../support/stores/importedStore.ts";
import {makeLoop, TableStore} from "../../support/stores/tableStore.ts";

let store: TableStore;
before(async () => {
  store = await TableStore.create();
});

test("what the disk cannot read or open is named, and check goes on with the other files", async () => {
  const read = "byte 0: it cannot be read: EISDIR: illegal operation on a directory, read";
  const opened = "it cannot be read: ELOOP";
  for (const damage of ["flip", "loop"]) {
    const directory = await store.copy();
    const logs = (await readdir(directory)).filter(name => name.endsWith(".log"));
    if (damage === "flip") await store.flip(directory, store.byteOfAPage(directory), 0);
    else await makeLoop(directory, store.file);
    for (const name of [...logs, "ACKNOWLEDGED"]) {
      if (damage === "loop") await makeLoop(directory, name);
      else {
        // The read of a folder fails as that of a bad sector does, after it was opened.
        await rm(join(directory, name));
        await mkdir(join(directory, name));
      }
    }
    const {found, filesDamaged} = await checkStore(directory);
    assert.ok(filesDamaged);
    const all = found.join("\n");
    for (const name of [...logs, "ACKNOWLEDGED"])
      assert.ok(all.includes(damage === "flip" ? `${name}, ${read}` : `${name}: ${opened}`), all);
    const ofTable = damage === "flip" ? ", byte \\d+: data block: checksum" : `: ${opened}`;
    assert.match(all, new RegExp(`^${store.file}${ofTable}`, "m"));
  }
});

test("a table that does not open is a finding of its own, and no damage where the store is opened", async () => {
  const directory = await store.copy();
  const {tables} = await readManifest(directory);
  await makeLoop(directory, store.file);
  await rm(join(directory, "ACKNOWLEDGED"));
  for await (const {damage} of checkTables(directory, tables.values(), "whole"))
    assert.match(
      damage.map(({file, what}) => `${file}: ${what}`).join(),
      /^\d+\.ldb: it cannot be read: ELOOP/,
    );
  await assert.rejects(openEngine(directory), {
    code: "STORE_UNREADABLE",
    message: new RegExp(`cannot be read: ${store.file}: it cannot be read: ELOOP`),
  });
});

test("a damaged note is named beside a CURRENT or a manifest that is damaged or does not open", async () => {
  const spoil = (directory: string, name: string): Promise<void> =>
    writeFile(join(directory, name), "spoiled");
  for (const [change, isManifest] of [
    [spoil, false],
    [makeLoop, false],
    [makeLoop, true],
  ] as const) {
    const directory = await store.copy();
    const name = isManifest ? (await readManifest(directory)).name : "CURRENT";
    await change(directory, name);
    await spoil(directory, "ACKNOWLEDGED");
    const {found} = await checkStore(directory);
    assert.equal(found.length, 2);
    assert.match(found[0] as string, new RegExp(`^${name}`));
    assert.equal(found[1], "ACKNOWLEDGED: it does not decode");
  }
});

test("the byte named for a failed read is where the disk stopped", {
  skip: !existsSync("/proc/self/mem"),
}, async () => {
  // The memory of this process reads like a file with holes that cannot be read.
  const maps = (await readFile("/proc/self/maps", "latin1")).split("\n");
  const areas = maps.map(line =>
    /^(\w+)-(\w+) r/
      .exec(line)
      ?.slice(1)
      .map(hex => Number(`0x${hex}`)),
  );
  const last = areas.find(
    (area, i) => area !== undefined && areas[i + 1] !== undefined && areas[i + 1]?.[0] !== area[1],
  );
  const end = last?.[1] as number;
  await symlink("/proc/self/mem", join(store.folder, "000099.ldb"));
  const memory = TableBlocks.open(store.folder, 99);
  try {
    assert.throws(() => memory.read(end - 4096, 8192), {
      message: new RegExp(`^000099.ldb, byte ${end}: it cannot be read: EIO`),
    });
  } finally {
    memory.close();
  }
});

test("a store that a power cut left before it was made is made anew", async () => {
  const directory = join(store.folder, "unborn");
  for (const manifest of ["", "\0".repeat(50)]) {
    await mkdir(directory);
    await writeFile(join(directory, "CURRENT"), "MANIFEST-000001\n");
    await writeFile(join(directory, "MANIFEST-000001"), manifest);
    await writeFile(join(directory, "MANIFEST-000002"), "half");
    for (const name of ["LOCK", "LOG", "000003.log"]) await writeFile(join(directory, name), "");
    await assert.rejects(checkStore(directory), {code: "STORE_MISSING"});
    await (await openEngine(directory)).close();
    await rm(directory, {recursive: true});
  }
  // With a byte in the log it is one that was made.
  await mkdir(directory);
  await writeFile(join(directory, "CURRENT"), "MANIFEST-000001\n");
  await writeFile(join(directory, "000003.log"), "x");
  await assert.rejects(openEngine(directory), {code: "STORE_DAMAGED"});
});
