/** What was acknowledged survives: reopening, kill -9 at any moment. */
import assert from "node:assert/strict";
import {readdirSync, statSync, watch} from "node:fs";
import {mkdir, rm, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {Level} from "level";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {readNote} from "../../../storage/directory/acknowledgedNote.ts";
import {SUITE_NAMES, type SuiteName} from "../../../storage/hash/suiteNames.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {ImportSource} from "../../../workers/messages/importSource.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {longChain, wideBlock} from "../../support/chains/longChain.ts";
import {startChild} from "../../support/processes/childProcesses.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importSource, openEngine} from "../../support/stores/importedStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";
import {once} from "../../support/wait.ts";

const IMPORT_PROCESS = fileURLToPath(new URL("../../support/processes/importProcess.js", import.meta.url));

/** Each block is executed, and has its trees and its state trie. */
const DEMO: ImportSource = {
  kind: "blocks",
  genesisPath: fileURLToPath(import.meta.resolve("#package/demo/genesis.json")),
  blocksPath: fileURLToPath(import.meta.resolve("#package/demo/chain.rlp")),
};

const folder = makeTemporaryFolder();

function stateRoots(engine: Engine): string[] {
  const {latest} = engine.chain.head();
  return Array.from({length: latest === undefined ? 0 : latest + 1}, (_, block) => {
    const summary = engine.chain.readBlock(block);
    assert.ok("stateRoot" in summary, `block ${block} is held`);
    return encodeHex(summary.stateRoot);
  });
}

async function importWhole(directory: string, source: ImportSource, suite?: SuiteName): Promise<string[]> {
  const options = suite === undefined ? {} : {suite};
  const outcome = await importSource(directory, source, {...options, finalized: "last"});
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  const engine = await openEngine(directory, suite);
  const roots = stateRoots(engine);
  assert.deepEqual((await checkStore(directory)).found, []);
  await engine.close();
  return roots;
}

/** Behind proofd's back: opening the store through it would clear away what no block reaches. */
async function countRecords(directory: string, kind: "block" | "page"): Promise<number> {
  const [gte, lt] = (kind === "block" ? ["b", "c"] : ["p", "q"]).map(prefix => Buffer.from(prefix));
  const db = new Level<Buffer, Buffer>(directory, {
    keyEncoding: "buffer",
    valueEncoding: "buffer",
    compression: false,
  });
  await db.open();
  const keys = await db.keys({gte: gte as Buffer, lt: lt as Buffer}).all();
  await db.close();
  return keys.length;
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), {throwIfNoEntry: false})?.size ?? 0),
    0,
  );
}

/** Starts an import and kills it when `isTime`. @returns the newest block acknowledged, -1 for none */
async function killDuring(
  directory: string,
  source: ImportSource,
  isTime: (acknowledged: number) => boolean,
  suite: SuiteName = "sha256",
): Promise<number> {
  const child = startChild(process.execPath, [IMPORT_PROCESS, directory, JSON.stringify(source), suite]);
  child.stderr.pipe(process.stderr, {end: false});
  let acknowledged = -1;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.trim().split("\n")) acknowledged = Number(line);
    if (isTime(acknowledged)) child.kill("SIGKILL");
  });
  const watcher = watch(directory, () => {
    if (isTime(acknowledged)) child.kill("SIGKILL");
  });
  await once(child, "close");
  watcher.close();
  return acknowledged;
}

/** `npm run test:soak` sets it, and then also kills imports with every suite, of a chain that is executed. */
const KILLS = process.env.FOLLOW_KILLS;

for (const suite of KILLS === undefined ? (["sha256"] as const) : SUITE_NAMES)
  test(`${suite}: an import killed again and again keeps every acknowledged block and ends with the same roots`, async () => {
    const path = join(folder, `chain-${suite}.ndjson`);
    await writeFile(path, encodeLines(longChain(20, 60)));
    const source = KILLS === undefined ? ({kind: "diffs", path} as const) : DEMO;
    const expected = await importWhole(join(folder, `whole-${suite}`), source, suite);
    const directory = join(folder, `killed-${suite}`);
    await mkdir(directory);
    for (let round = 0, held = -1; round < Number(KILLS ?? 1) && held < expected.length - 1; round++) {
      // Sometimes right after an acknowledgement, sometimes in the middle of the next files that LevelDB touches.
      let events = 0;
      const acknowledged = await killDuring(directory, source, () => ++events > 3 + round * 12, suite);
      const noted = (await readNote(directory))?.block ?? -1;
      assert.ok(
        noted >= acknowledged,
        `round ${round}: block ${acknowledged} was acknowledged, ${noted} is noted`,
      );
      const engine = await openEngine(directory, suite);
      const roots = stateRoots(engine);
      await engine.close();
      held = roots.length - 1;
      assert.ok(held >= noted, `round ${round}: block ${noted} was noted, ${held} is held`);
      assert.deepEqual(roots, expected.slice(0, roots.length));
      if (KILLS !== undefined) assert.deepEqual((await checkStore(directory)).found, []);
    }
    assert.deepEqual(await importWhole(directory, source, suite), expected);
  });

test("an import killed within a large block 0 holds nothing of it, and begins anew", async () => {
  const path = join(folder, "wide.ndjson");
  await writeFile(path, encodeLines([wideBlock(560)]));
  const directory = join(folder, "wide-killed");
  // The block has 13 MB, written 8 MB at a time: after the first write its record is still to be made. On a busy
  // machine the kill may come too late all the same.
  for (let attempt = 1; ; attempt++) {
    await mkdir(directory);
    await killDuring(directory, {kind: "diffs", path}, () => bytesIn(directory) > 9 << 20);
    assert.ok(
      (await countRecords(directory, "page")) > 0,
      "pages of the block are on disk, ahead of its record",
    );
    if ((await countRecords(directory, "block")) === 0) break;
    assert.ok(attempt < 10, "the record is not written before the pages");
    await rm(directory, {recursive: true});
  }
  const engine = await openEngine(directory);
  assert.deepEqual(engine.chain.head(), {earliest: undefined, finalized: undefined, latest: undefined});
  await engine.close();
  assert.equal(await countRecords(directory, "page"), 0, "and are cleared away when the store is opened");
  await writeFile(path, encodeLines(longChain(1, 3)));
  assert.equal((await importWhole(directory, {kind: "diffs", path})).length, 1);
});

test("a large block that is refused leaves no pages behind", async () => {
  const path = join(folder, "refused.ndjson");
  await writeFile(path, encodeLines([{...wideBlock(380), stateRoot: `0x${"11".repeat(32)}`}]));
  const directory = join(folder, "refused");
  const engine = await openEngine(directory);
  const outcome = await engine.startImport({source: {kind: "diffs", path}, allowUnverified: true}, () => {})
    .outcome;
  assert.ok(!outcome.ok);
  assert.match(outcome.message, /^line 1: block 0: expected state root 0x1{64}, its changes give 0x/);
  await engine.close();
  assert.equal(await countRecords(directory, "page"), 0);
});
