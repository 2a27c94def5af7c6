/** A closed store with one flipped bit in a table is refused, or works: LevelDB never ends the process, this file. */
import assert from "node:assert/strict";
import {cp, readdir, readFile, rm, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {uniformInt} from "pure-rand/distribution/uniformInt";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {Compaction} from "../../storage/prune/compaction.ts";
import {META} from "../../storage/record/layout.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {longChain} from "../support/chains/longChain.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const FLIPS = 2000;
const OPTIONS = {role: "owner", cacheBytes: 1 << 20} as const;

const folder = makeTemporaryFolder();
let whole: string;
before(async () => {
  whole = join(folder, "whole");
  const store = await TemporaryStore.create();
  await store.mustImport(longChain(4, 40), "last");
  await store.reopen(); // writes the log out as a table
  await store.engine.close();
  await cp(store.directory, whole, {recursive: true});
  await store.reopen();
  await store.close();
});

test("a flipped bit in a table of a closed store never ends the process, nor hides what the store is", async () => {
  const name = (await readdir(whole)).find(file => file.endsWith(".ldb")) as string;
  const bytes = await readFile(join(whole, name));
  const random = xoroshiro128plus(21);
  let refused = 0;
  for (let flip = 0; flip < FLIPS; flip++) {
    const [at, bit] = [uniformInt(random, 0, bytes.length - 1), uniformInt(random, 0, 7)];
    const directory = join(folder, "copy");
    await cp(whole, directory, {recursive: true});
    bytes[at] = (bytes[at] as number) ^ (1 << bit);
    await writeFile(join(directory, name), bytes);
    bytes[at] = (bytes[at] as number) ^ (1 << bit);
    if (!(await useStore(directory, `byte ${at}, bit ${bit}`))) refused++;
    await rm(directory, {recursive: true});
  }
  assert.ok(refused > 0 && refused < FLIPS, `${refused} of ${FLIPS} were refused`);
});

/** @returns false if the store was refused by name */
async function useStore(directory: string, what: string): Promise<boolean> {
  let store: StateStore;
  try {
    store = await StateStore.open({directory, ...OPTIONS});
  } catch (error) {
    assert.equal((error as {code?: string}).code, "STORE_DAMAGED", `${what}: ${error}`);
    return false;
  }
  try {
    assert.equal(store.reader.readFinalized(), 3, what);
    assert.equal(store.reader.readChain()?.chainId, 1337n, what);
    await readAll(store);
    await store.db.put(META.floor, (await store.db.get(META.floor)) as Buffer, {sync: true});
    await compactAll(store);
    assert.equal(store.reader.readFinalized(), 3, what);
  } finally {
    await store.close();
  }
  return true;
}

async function readAll({db}: StateStore): Promise<void> {
  try {
    for await (const [key] of db.iterator()) db.getSync(key);
  } catch {
    // LevelDB names damage here, and records have checksums of their own.
  }
}

/** All pages are said to be removed, so that all tables are compacted. */
async function compactAll({db}: StateStore): Promise<void> {
  const compaction = new Compaction(db);
  compaction.note(Float64Array.from({length: 1 << 14}, (_, page) => page));
  await compaction.runIfDue(new AbortController().signal).catch(() => {});
}
