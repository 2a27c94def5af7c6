import assert from "node:assert/strict";
import {readdir, statfs, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {missingSpace} from "../../../../storage/directory/diskSpace.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

test("a disk needs free space for LevelDB's logs and 16 MiB, and what is missing names both figures", async () => {
  const folder = makeTemporaryFolder();
  assert.equal(missingSpace(folder), undefined);
  const {bavail, bsize} = await statfs(folder);
  const log = join(folder, "000003.log");
  await writeFile(log, "");
  // A hole: it takes no space.
  await truncate(log, bavail * bsize);
  const [, needed, free] =
    /^the disk has (\d+) MB of free space \(now (\d+) MB\)$/.exec(missingSpace(folder) ?? "") ?? [];
  assert.equal(needed, String(Math.ceil((bavail * bsize + (16 << 20)) / 1e6)));
  assert.ok(Number(free) < Number(needed));
  assert.deepEqual(await readdir(folder), ["000003.log"], "no trial is left");
  assert.equal(missingSpace(join(folder, "absent")), "the disk takes writes again");
});
