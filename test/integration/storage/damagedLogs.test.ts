/** A log or manifest with a flipped bit is refused by file and byte, and what stands before it can be kept. */
import assert from "node:assert/strict";
import {readdir, readFile, rm, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {startChild} from "../../support/processes/childProcesses.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {openEngine} from "../../support/stores/importedStore.ts";
import {
  assertRefused,
  BLOCKS,
  LoggedStores,
  latestOf,
  logOf,
  NOTE,
} from "../../support/stores/loggedStores.ts";
import {once} from "../../support/wait.ts";

let stores: LoggedStores;
// In a hook: the tests of other files in this process run while this one is loaded, and some mock LevelDB.
before(async () => {
  stores = await LoggedStores.create();
});

interface LogPiece {
  /** Where the header begins. */
  readonly start: number;
  readonly end: number;
}

const BLOCK_BYTES = 32 << 10;
const HEADER_BYTES = 7;

/** Where the pieces of a file in LevelDB's log format lie: 32 KB blocks of 7-byte headers and bytes. */
function logPieces(log: Buffer): LogPiece[] {
  const pieces: LogPiece[] = [];
  for (let start = 0; start < log.length; ) {
    const left = BLOCK_BYTES - (start % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      start += left;
      continue;
    }
    const end = start + HEADER_BYTES + log.readUInt16LE(start + 4);
    pieces.push({start, end});
    start = end;
  }
  return pieces;
}

/** Places that matter in a piece: in its checksum, length and type, and the first and last byte of its content. */
function placesIn({start, end}: LogPiece): number[] {
  return [start, start + 3, start + 4, start + 5, start + 6, start + 7, end - 1];
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

test("a bit flipped in a log refuses the store by file and byte, with a note or without, and changes nothing", async () => {
  const log = await readFile(join(stores.bulk, await logOf(stores.bulk)));
  const pieces = logPieces(log);
  assert.ok(pieces.length > 4, `${pieces.length} pieces`);
  const middle = (of: readonly LogPiece[]) => of[of.length >> 1] as LogPiece;
  await assertFlipsRefused(stores.bulk, [
    ...[pieces[0] as LogPiece, middle(pieces), pieces.at(-1) as LogPiece].map(
      ({start, end}) => (start + end) >> 1,
    ),
    ...placesIn(pieces[1] as LogPiece),
  ]);
  const ofBlocks = logPieces(await readFile(join(stores.single, await logOf(stores.single))));
  await assertFlipsRefused(stores.single, placesIn(ofBlocks.at(-1) as LogPiece));
  const old = await stores.copyOf(stores.single);
  await rm(join(old, NOTE));
  await assertFlipsRefused(old, placesIn(middle(ofBlocks)));
});

test("the blocks before the damage can be kept: by a copy without its note, its log cut where the damage is", async () => {
  const directory = await stores.copyOf(stores.single);
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  const at = (stores.sizes[6] as number) + 2000;
  log[at] = (log[at] as number) ^ 4;
  await writeFile(join(directory, name), log);
  const error = await openEngine(directory).catch((reason: Error) => reason);
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

test("damage of CURRENT, of the manifest and a table that is gone or cut short are named", async () => {
  const tables = await stores.copyOf(stores.single);
  await (await openEngine(tables)).close();
  const names = await readdir(tables);
  const manifest = names.find(name => name.startsWith("MANIFEST-")) as string;
  const table = names.find(name => name.endsWith(".ldb")) as string;
  const bytes = await readFile(join(tables, manifest));
  const pieces = logPieces(bytes);
  assert.ok(pieces.length >= 2);
  for (const piece of pieces)
    for (const at of placesIn(piece)) {
      const directory = await stores.copyOf(tables);
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ 1;
      await writeFile(join(directory, manifest), flipped);
      await assertRefused(directory, new RegExp(`${manifest}, byte ${piece.start}: `), `byte ${at}`);
      await rm(directory, {recursive: true});
    }
  for (const [change, message] of [
    [
      (directory: string) => writeFile(join(directory, "CURRENT"), "MANIFEST-0000"),
      /CURRENT, byte 0: it does not name a manifest/,
    ],
    [
      (directory: string) => rm(join(directory, manifest)),
      new RegExp(`${manifest}: it is missing, although CURRENT names it`),
    ],
    [
      (directory: string) => truncate(join(directory, manifest), pieces[1]?.start),
      new RegExp(`${manifest}: it has no next file number`),
    ],
    [
      (directory: string) => rm(join(directory, table)),
      new RegExp(`${table}: it is missing, although ${manifest} names it`),
    ],
    [
      (directory: string) => truncate(join(directory, table), 1000),
      new RegExp(`${table}: it has 1000 bytes, ${manifest} says \\d+`),
    ],
  ] as const) {
    const directory = await stores.copyOf(tables);
    await change(directory);
    await assertRefused(directory, message);
  }
});

test("a store that another process has open is in use, whatever its files look like", async () => {
  const directory = await stores.copyOf(stores.bulk);
  const engine = new URL("../../../workers/engine.js", import.meta.url).href;
  const open = `const {Engine} = await import(${JSON.stringify(engine)});
    await Engine.open({directory: ${JSON.stringify(directory)}, workers: 0, cacheBytes: 1 << 20, createIfMissing: false});
    process.stdout.write("open");
    process.stdin.resume();`;
  const holder = startChild(process.execPath, ["--input-type=module", "-e", open]);
  await once(holder.stdout, "data");
  const table = (await readdir(directory)).find(name => name.endsWith(".ldb")) as string;
  await truncate(join(directory, table), 10);
  await assert.rejects(openEngine(directory), {code: "STORE_IN_USE", message: /in use by another process/});
  holder.kill("SIGKILL");
  await once(holder, "close");
  await assert.rejects(openEngine(directory), {code: "STORE_DAMAGED"});
});
