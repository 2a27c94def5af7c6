/** A log with a flipped bit: the store is refused by file and byte, and what stands before the damage can be kept. */
import assert from "node:assert/strict";
import {readdir, readFile, rm, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, test} from "node:test";
import {Random} from "../../../load/requests/random.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {propertyRuns} from "../../support/soak.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {
  assertRefused,
  BLOCKS,
  LoggedStores,
  latestOf,
  logOf,
  NOTE,
  openLogged,
} from "../../support/stores/loggedStores.ts";
import {type LogPiece, logPieces, placesIn} from "../../support/stores/logPieces.ts";

const stores = await LoggedStores.create();
after(() => stores.remove());

/** The same in every run. */
function sampleOffsets(count: number, below: number): number[] {
  const random = new Random(1, 0);
  return Array.from({length: count}, () => random.below(below));
}

/** Every bit flipped must refuse the store and name the piece that it is in. */
async function assertFlipsRefused(store: string, offsets: Iterable<number>): Promise<void> {
  const directory = await stores.copyOf(store);
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  const pieces = logPieces(log);
  for (const offset of offsets) {
    const piece = pieces.find(({start, end}) => start <= offset && offset < end);
    if (piece === undefined) continue; // the rest of a block, which is not read
    const flipped = Buffer.from(log);
    flipped[offset] = (flipped[offset] as number) ^ (1 << (offset % 8));
    await writeFile(join(directory, name), flipped);
    await assertRefused(directory, new RegExp(`${name}, byte ${piece.start}: `), `bit of byte ${offset}`);
  }
  await writeFile(join(directory, name), log);
  assert.equal(await latestOf(directory), BLOCKS - 1);
}

test("a bit flipped in the log of a bulk import refuses the store by file and byte, and changes nothing", async () => {
  const log = await readFile(join(stores.bulk, await logOf(stores.bulk)));
  const pieces = logPieces(log);
  assert.ok(pieces.length > 4, `${pieces.length} pieces`);
  const chosen = [pieces[0], pieces[1], pieces[Math.floor(pieces.length / 2)], pieces.at(-1)] as LogPiece[];
  await assertFlipsRefused(stores.bulk, [
    ...chosen.flatMap(placesIn),
    ...sampleOffsets(propertyRuns(12), log.length),
  ]);
});

test("a bit flipped in any block's own batch refuses the store, also without a note", async () => {
  const log = await readFile(join(stores.single, await logOf(stores.single)));
  const pieces = logPieces(log);
  const middle = pieces[Math.floor(pieces.length / 2)] as LogPiece;
  await assertFlipsRefused(stores.single, [...placesIn(middle), ...placesIn(pieces.at(-1) as LogPiece)]);
  const old = await stores.copyOf(stores.single);
  await rm(join(old, NOTE));
  await assertFlipsRefused(old, [
    ...placesIn(middle),
    ...placesIn(pieces.at(-1) as LogPiece),
    ...sampleOffsets(propertyRuns(4), log.length),
  ]);
});

test("the blocks before the damage can be kept: by a copy without its note, its log cut where the damage is", async () => {
  const directory = await stores.copyOf(stores.single);
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  const at = (stores.sizes[6] as number) + 2000;
  log[at] = (log[at] as number) ^ 4;
  await writeFile(join(directory, name), log);
  const error = await openLogged(directory).catch((reason: Error) => reason);
  assert.ok(error instanceof Error);
  const place = /, byte (\d+): /.exec(error.message)?.[1];
  await truncate(join(directory, name), Number(place));
  await rm(join(directory, NOTE));
  assert.equal(await latestOf(directory), 6);
  await stores.importBlocks(directory, BLOCKS);
  assert.equal(await latestOf(directory), BLOCKS - 1);
});

test("every command refuses a store with a damaged log, and changes nothing", async () => {
  const directory = await stores.copyOf(stores.bulk);
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  log[log.length >> 1] = (log[log.length >> 1] as number) ^ 1;
  await writeFile(join(directory, name), log);
  const before = await hashFiles(directory);
  const path = await stores.writeBlocks(BLOCKS);
  for (const args of [
    ["serve", "--port", "0"],
    ["import", "--allow-unverified", "--diffs", path],
    ["rollback", "--to", "0"],
    ["check"],
  ]) {
    const {code, stdout, stderr} = await runHere([...args, "--db", directory]);
    assert.equal(code, 1, `${args[0]}: ${stderr}`);
    assert.match(stdout + stderr, new RegExp(`${name}, byte \\d+: checksum`), args[0]);
    assert.deepEqual(await hashFiles(directory), before, `${args[0]} changed the store`);
  }
});

test("a store that another process has open is in use, whatever its files look like", async () => {
  const directory = await stores.copyOf(stores.bulk);
  const path = await stores.writeBlocks(BLOCKS);
  const daemon = await startDaemon(["--db", directory]);
  try {
    await truncate(
      join(directory, (await readdir(directory)).find(name => name.endsWith(".ldb")) as string),
      10,
    );
    await assert.rejects(openLogged(directory), {code: "STORE_IN_USE"});
    const {code, stderr} = await runHere([
      "import",
      "--db",
      directory,
      "--allow-unverified",
      "--diffs",
      path,
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /in use by another process/);
  } finally {
    await daemon.stop("SIGKILL");
  }
});
