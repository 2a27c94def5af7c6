/** LevelDB's manifest: what a database says of its tables and logs, and which files are refused. */
import assert from "node:assert/strict";
import {cp, mkdtemp, readdir, readFile, rm, stat, unlink, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {Level} from "level";
import {FileDamage, type FileFinding} from "../../../../storage/files/fileDamage.ts";
import {tableName} from "../../../../storage/files/fileNames.ts";
import {
  isSameManifest,
  liveLogs,
  readManifest,
  readUnchanged,
} from "../../../../storage/files/levelManifest.ts";
import {logPieces} from "../../../support/stores/logPieces.ts";

let folder: string;
/** A database with one table and one log. */
let directory: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-manifest-"));
  directory = join(folder, "db");
  const db = new Level<string, string>(directory, {compression: false});
  await db.open();
  for (let i = 0; i < 100; i++) await db.put(`key ${i}`, `value ${i}`);
  await (db as unknown as {compactRange(start: string, end: string): Promise<void>}).compactRange("a", "z");
  await db.put("late", "in the log");
  await db.close();
});
after(() => rm(folder, {recursive: true}));

/** A copy of the database, changed. */
async function changed(
  name: string,
  change: (copy: string, manifest: string) => Promise<void>,
): Promise<string> {
  const copy = join(folder, name);
  await cp(directory, copy, {recursive: true});
  const manifest = (await readdir(copy)).find(file => file.startsWith("MANIFEST-")) as string;
  await change(copy, join(copy, manifest));
  return copy;
}

async function findingOf(from: string): Promise<FileFinding> {
  try {
    await readManifest(from);
  } catch (error) {
    if (error instanceof FileDamage) return error.finding;
    throw error;
  }
  return assert.fail("no damage");
}

test("the tables named are the files that are there, with their sizes and keys", async () => {
  const {name, tables} = await readManifest(directory);
  assert.equal(await readFile(join(directory, "CURRENT"), "latin1"), `${name}\n`);
  assert.ok(tables.size > 0);
  for (const {number, size, smallest, largest} of tables.values()) {
    assert.equal((await stat(join(directory, tableName(number)))).size, size);
    assert.ok(
      smallest.toString("latin1").startsWith("key 0") && largest.toString("latin1").startsWith("key 99"),
    );
  }
});

test("the live logs are those from the log number on, and the previous one, in the order of their numbers", async () => {
  const manifest = await readManifest(directory);
  const names = await readdir(directory);
  assert.deepEqual(
    liveLogs(names, manifest).map(number => `${String(number).padStart(6, "0")}.log`),
    names.filter(name => name.endsWith(".log")),
  );
  const files = ["000012.log", "000003.log", "000009.log", "000007.ldb", "LOG", "000010.log"];
  assert.deepEqual(liveLogs(files, {...manifest, logNumber: 10, previousLogNumber: 3}), [3, 10, 12]);
  assert.deepEqual(liveLogs(files, {...manifest, logNumber: 10, previousLogNumber: 0}), [10, 12]);
});

test("two readings are the same while they name the same tables and log", async () => {
  const [one, other] = [await readManifest(directory), await readManifest(directory)];
  assert.ok(isSameManifest(one, other));
  assert.ok(!isSameManifest(one, {...other, logNumber: other.logNumber + 1}));
  assert.ok(!isSameManifest(one, {...other, name: "MANIFEST-999999"}));
  const renumbered = [...other.tables.values()].map(table => [table.number + 1000, table] as const);
  assert.ok(!isSameManifest(one, {...other, tables: new Map(renumbered)}));
});

test("a CURRENT that names nothing, and a manifest that is not there, are findings", async () => {
  const nameless = await changed("nameless", copy => writeFile(join(copy, "CURRENT"), "MANIFEST-\n"));
  assert.deepEqual(await findingOf(nameless), {
    file: "CURRENT",
    offset: 0,
    what: "it does not name a manifest",
  });
  const gone = await changed("gone", (_, manifest) => unlink(manifest));
  assert.equal((await findingOf(gone)).what, "it is not there, although CURRENT names it");
});

test("a bit flipped anywhere in a manifest is a finding with file and byte", async () => {
  const copy = await changed("flipped", async () => {});
  const manifest = join(copy, (await readManifest(copy)).name);
  const whole = await readFile(manifest);
  const [first] = logPieces(whole);
  assert.ok(first !== undefined);
  for (let byte = first.start; byte < first.end; byte++) {
    const spoiled = Buffer.from(whole);
    spoiled[byte] = (spoiled[byte] as number) ^ 1;
    await writeFile(manifest, spoiled);
    assert.notEqual((await findingOf(copy)).offset, undefined, `byte ${byte}`);
  }
});

test("an empty manifest lacks the numbers that LevelDB does not open without", async () => {
  const empty = await changed("empty", (_, manifest) => writeFile(manifest, ""));
  assert.equal((await findingOf(empty)).what, "it has no next file number");
});

test("what was read is discarded if the manifest is gone at the second look", async () => {
  const copy = await changed("vanished", async () => {});
  const discarded: string[] = [];
  const reading = readUnchanged(
    copy,
    async () => {
      await unlink(join(copy, "CURRENT"));
      return "snapshot";
    },
    result => discarded.push(result),
  );
  await assert.rejects(reading, {code: "ENOENT"});
  assert.deepEqual(discarded, ["snapshot"]);
});
