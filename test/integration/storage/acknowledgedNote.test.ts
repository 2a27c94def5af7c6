/** The note of the newest acknowledged block (ACKNOWLEDGED): a store that does not hold that block is refused. */
import assert from "node:assert/strict";
import {cp, mkdir, readdir, readFile, rm, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, test} from "node:test";
import {runProofd} from "../../support/processes/daemon.ts";
import {
  assertRefused,
  BLOCKS,
  LoggedStores,
  latestOf,
  logOf,
  NOTE,
  openLogged,
} from "../../support/stores/loggedStores.ts";
import {removeBlockRecord} from "../../support/stores/tamper.ts";

const stores = await LoggedStores.create();
after(() => stores.remove());

test("a note that is not what was written is named", async () => {
  const directory = await stores.copyOf(stores.single);
  const note = stores.notes.at(-1) as Buffer;
  for (let at = 0; at < note.length; at += 3) {
    const flipped = Buffer.from(note);
    flipped[at] = (flipped[at] as number) ^ 1;
    await writeFile(join(directory, NOTE), flipped);
    await assertRefused(directory, new RegExp(`${NOTE}: it is not what was written`), `byte ${at}`);
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
  await (await openLogged(empty)).close();
  await cp(empty, replaced, {recursive: true});
  await assert.rejects(openLogged(replaced), {code: "STORE_DAMAGED"});
  const {code, stdout, stderr} = await runProofd(["check", "--db", replaced]);
  assert.equal(code, 1);
  assert.match(stdout + stderr, /block 11 .*held|byte \d+: .*acknowledged blocks are lost/);
});

test("an older copy of the files under a newer note is refused, and check says what is lost", async () => {
  const directory = await stores.copyOf(stores.single);
  // Its tables are those of 12 blocks; then the newest one goes, behind proofd's back.
  assert.equal(await latestOf(directory), BLOCKS - 1);
  await removeBlockRecord(directory, BLOCKS - 1);
  await assert.rejects(openLogged(directory), {
    code: "STORE_DAMAGED",
    message: /is damaged: ACKNOWLEDGED: it says that block 11 was held, and the newest is block 10/,
  });
  const {code, stdout} = await runProofd(["check", "--db", directory]);
  assert.equal(code, 1);
  assert.match(stdout, /^ACKNOWLEDGED: it says that block 11 was held, and the newest is block 10$/m);
});

test("a rollback keeps the note right whenever it is broken off", async () => {
  const directory = await stores.copyOf(stores.single);
  const engine = await openLogged(directory);
  await engine.rollback(8);
  const note = JSON.parse(await readFile(join(directory, NOTE), "utf8"));
  assert.equal(note.block, 8);
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
  assert.equal(JSON.parse(await readFile(join(late, NOTE), "utf8")).block, BLOCKS - 1);
  assert.equal(await latestOf(late), BLOCKS - 1);
});

test("a rollback of which the log lost the end refuses the store: blocks that were removed do not come back", async () => {
  const directory = await stores.copyOf(stores.single);
  const engine = await openLogged(directory);
  await engine.rollback(8);
  await engine.close();
  const name = await logOf(directory);
  await truncate(join(directory, name), 0);
  await assertRefused(directory, new RegExp(`${name}, byte 0: .*acknowledged blocks are lost`));
});
