/** LevelDB's manifest: what a database says of its logs, and readings that meet a change. What is refused, integration/storage shows. */
import assert from "node:assert/strict";
import {unlink} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {Level} from "level";
import {liveLogs, type Manifest, readUnchanged} from "../../../../storage/leveldb/manifest.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const TABLE = {number: 7, level: 0, size: 100, smallest: Buffer.alloc(8), largest: Buffer.alloc(8)};
const MANIFEST: Manifest = {
  name: "MANIFEST-000002",
  logNumber: 10,
  previousLogNumber: 3,
  tables: new Map([[7, TABLE]]),
};

test("the live logs are those from the log number on, and the previous one, in the order of their numbers", () => {
  const files = ["000012.log", "000003.log", "000009.log", "000007.ldb", "LOG", "000010.log"];
  assert.deepEqual(liveLogs(files, MANIFEST), [3, 10, 12]);
  assert.deepEqual(liveLogs(files, {...MANIFEST, previousLogNumber: 0}), [10, 12]);
});

test("what was read is discarded if the manifest is gone at the second look", async () => {
  const directory = makeTemporaryFolder();
  const db = new Level(directory);
  await db.open();
  await db.close();
  const discarded: string[] = [];
  const reading = readUnchanged(
    directory,
    async () => {
      await unlink(join(directory, "CURRENT"));
      return "snapshot";
    },
    result => discarded.push(result),
  );
  await assert.rejects(reading, {code: "ENOENT"});
  assert.deepEqual(discarded, ["snapshot"]);
});
