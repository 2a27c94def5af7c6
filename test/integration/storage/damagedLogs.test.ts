/** Blocks that were acknowledged are there, or the store is refused: LevelDB alone would drop what it cannot read. */
import assert from "node:assert/strict";
import {cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {ProofPool} from "../../../workers/pool/pool.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {addressAt, longChain} from "../../support/chains/longChain.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {type LogPiece, logPieces} from "../../support/stores/logPieces.ts";
import {tamper} from "../../support/stores/tamper.ts";

const NOTE = "ACKNOWLEDGED";
const BLOCKS = 12;
const chain = longChain(BLOCKS, 60);

let folder: string;
/** All blocks in one batch. */
let bulk: string;
/** A batch for each block. */
let single: string;
/** The notes of `single` as they were after each block, and the size of the log then. */
const notes: Buffer[] = [];
const sizes: number[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-logs-"));
  bulk = join(folder, "bulk");
  await importBlocks(bulk, BLOCKS);
  single = join(folder, "single");
  const pool = await open(single);
  for (let blocks = 1; blocks <= BLOCKS; blocks++) {
    await importInto(pool, blocks);
    notes.push(await readFile(join(single, NOTE)));
    sizes.push((await readFile(join(single, await logOf(single)))).length);
  }
  await pool.close();
});
after(async () => {
  await rm(folder, {recursive: true});
});

function open(directory: string, createIfMissing = true): Promise<ProofPool> {
  return ProofPool.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing});
}

async function importInto(pool: ProofPool, blocks: number): Promise<void> {
  const path = join(folder, `blocks-${blocks}.ndjson`);
  await writeFile(path, encodeLines(chain.slice(0, blocks)));
  const source = {kind: "diffs", path, follow: false} as const;
  const outcome = await pool.startImport({source, finalized: 0}, () => {}).outcome;
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
}

async function importBlocks(directory: string, blocks: number): Promise<void> {
  const pool = await open(directory);
  await importInto(pool, blocks);
  await pool.close();
}

/** The only log. */
async function logOf(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter(name => name.endsWith(".log"));
  assert.equal(names.length, 1, names.join(", "));
  return names[0] as string;
}

let copies = 0;
async function copyOf(store: string): Promise<string> {
  const directory = join(folder, `copy-${++copies}`);
  await cp(store, directory, {recursive: true});
  return directory;
}

/** @returns the newest block held */
async function latestOf(directory: string): Promise<number | undefined> {
  const pool = await open(directory);
  const {latest} = pool.chain.head();
  await pool.close();
  return latest;
}

/** The store does not open, and is left as it was. */
async function assertRefused(directory: string, message: RegExp, what = ""): Promise<void> {
  const before = await hashFiles(directory);
  await assert.rejects(open(directory), (error: Error & {code?: string}) => {
    assert.equal(error.code, "STORE_DAMAGED", `${what} ${error.stack}`);
    assert.match(error.message, message, what);
    return true;
  });
  assert.deepEqual(await hashFiles(directory), before, `${what} changed the store`);
}

/** Numbers below `below`, the same in every run. */
function* sample(count: number, below: number): Generator<number> {
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (state * 48271) % 0x7fffffff;
    yield state % below;
  }
}

/** Every bit flipped must refuse the store and name the piece that it is in. */
async function assertFlipsRefused(store: string, offsets: Iterable<number>): Promise<void> {
  const directory = await copyOf(store);
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

/** Checksum, length, type, first and last byte. */
function placesIn({start, end}: LogPiece): number[] {
  return [start, start + 3, start + 4, start + 5, start + 6, start + 7, end - 1];
}

test("a bit flipped in the log of a bulk import refuses the store by file and byte, and changes nothing", async () => {
  const log = await readFile(join(bulk, await logOf(bulk)));
  const pieces = logPieces(log);
  assert.ok(pieces.length > 4, `${pieces.length} pieces`);
  const chosen = [pieces[0], pieces[1], pieces[Math.floor(pieces.length / 2)], pieces.at(-1)] as LogPiece[];
  await assertFlipsRefused(bulk, [...chosen.flatMap(placesIn), ...sample(60, log.length)]);
});

test("a bit flipped in any block's own batch refuses the store, also without a note", async () => {
  const log = await readFile(join(single, await logOf(single)));
  const pieces = logPieces(log);
  const middle = pieces[Math.floor(pieces.length / 2)] as LogPiece;
  await assertFlipsRefused(single, [...placesIn(middle), ...placesIn(pieces.at(-1) as LogPiece)]);
  const old = await copyOf(single);
  await rm(join(old, NOTE));
  await assertFlipsRefused(old, [
    ...placesIn(middle),
    ...placesIn(pieces.at(-1) as LogPiece),
    ...sample(20, log.length),
  ]);
});

test("the blocks before the damage can be kept: by a copy without its note, its log cut where the damage is", async () => {
  const directory = await copyOf(single);
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  const at = (sizes[6] as number) + 2000;
  log[at] = (log[at] as number) ^ 4;
  await writeFile(join(directory, name), log);
  const error = await open(directory).catch((reason: Error) => reason);
  assert.ok(error instanceof Error);
  const place = /, byte (\d+): /.exec(error.message)?.[1];
  await truncate(join(directory, name), Number(place));
  await rm(join(directory, NOTE));
  assert.equal(await latestOf(directory), 6);
  await importBlocks(directory, BLOCKS);
  assert.equal(await latestOf(directory), BLOCKS - 1);
});

test("every command refuses a store with a damaged log, and changes nothing", async () => {
  const directory = await copyOf(bulk);
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  log[log.length >> 1] = (log[log.length >> 1] as number) ^ 1;
  await writeFile(join(directory, name), log);
  const before = await hashFiles(directory);
  const path = join(folder, "more.ndjson");
  await writeFile(path, encodeLines(chain));
  for (const args of [
    ["serve", "--port", "0"],
    ["import", "--diffs", path],
    ["rollback", "--to", "0"],
    ["check"],
  ]) {
    const {code, stdout, stderr} = await runProofd([...args, "--db", directory]);
    assert.equal(code, 1, `${args[0]}: ${stderr}`);
    assert.match(stdout + stderr, new RegExp(`${name}, byte \\d+: checksum`), args[0]);
    assert.deepEqual(await hashFiles(directory), before, `${args[0]} changed the store`);
  }
});

test("a log that ends before the byte that was acknowledged refuses the store", async () => {
  const log = await readFile(join(single, await logOf(single)));
  const name = await logOf(single);
  const inMiddle = (sizes[5] as number) + 100;
  for (const end of [0, 5, sizes[4] as number, inMiddle, 32768, log.length - 1]) {
    const directory = await copyOf(single);
    await truncate(join(directory, name), end);
    await assertRefused(
      directory,
      new RegExp(`${name}, byte \\d+: .*acknowledged blocks are lost`),
      `cut at ${end}`,
    );
  }
  const gone = await copyOf(single);
  await rm(join(gone, name));
  await assertRefused(gone, new RegExp(`${name}: it is not there`));
});

test("what a crash leaves of a batch that was not acknowledged is no damage", async () => {
  const name = await logOf(single);
  for (const [end, latest] of [
    [(sizes[5] as number) + 1, 5],
    [(sizes[5] as number) + 7, 5],
    [(sizes[5] as number) + 3000, 5],
    [(sizes[6] as number) - 1, 5],
    // The batch got to the disk whole, its note did not.
    [sizes[6] as number, 6],
  ] as const) {
    for (const padding of [0, 5000]) {
      const directory = await copyOf(single);
      await truncate(join(directory, name), end);
      await truncate(join(directory, name), end + padding);
      await writeFile(join(directory, NOTE), notes[5] as Buffer);
      assert.equal(await latestOf(directory), latest, `log ends at ${end}, then ${padding} zeros`);
      // The rest is imported as if nothing had been.
      await importBlocks(directory, BLOCKS);
      assert.equal(await latestOf(directory), BLOCKS - 1);
    }
  }
});

test("a store without a note opens, also with a torn log, and gets one", async () => {
  const name = await logOf(single);
  const directory = await copyOf(single);
  await rm(join(directory, NOTE));
  await truncate(join(directory, name), (sizes[7] as number) - 10);
  assert.equal(await latestOf(directory), 6);
  assert.match(
    await readFile(join(directory, NOTE), "utf8"),
    /^\{"block":6,"log":\d+,"bytes":\d+,"crc":"[0-9a-f]{8}"\}\n$/,
  );
  for (const nothing of [Buffer.alloc(0), Buffer.alloc(64)]) {
    const other = await copyOf(single);
    await writeFile(join(other, NOTE), nothing);
    assert.equal(await latestOf(other), BLOCKS - 1);
  }
});

test("a note that is not what was written is named", async () => {
  const directory = await copyOf(single);
  const note = notes.at(-1) as Buffer;
  for (let at = 0; at < note.length; at += 3) {
    const flipped = Buffer.from(note);
    flipped[at] = (flipped[at] as number) ^ 1;
    await writeFile(join(directory, NOTE), flipped);
    await assertRefused(directory, new RegExp(`${NOTE}: it is not what was written`), `byte ${at}`);
  }
});

test("a store whose blocks are gone is refused and not made anew", async () => {
  const files = await copyOf(single);
  for (const name of await readdir(files)) if (name !== NOTE) await rm(join(files, name));
  await assertRefused(files, /without its CURRENT file/);

  // Another, empty LevelDB in its place.
  const replaced = await copyOf(single);
  for (const name of await readdir(replaced)) if (name !== NOTE) await rm(join(replaced, name));
  const empty = join(folder, "empty");
  await mkdir(empty);
  await (await open(empty)).close();
  await cp(empty, replaced, {recursive: true});
  await assert.rejects(open(replaced), {code: "STORE_DAMAGED"});
  const {code, stdout, stderr} = await runProofd(["check", "--db", replaced]);
  assert.equal(code, 1);
  assert.match(stdout + stderr, /block 11 .*held|byte \d+: .*acknowledged blocks are lost/);
});

test("an older copy of the files under a newer note is refused, and check says what is lost", async () => {
  const directory = await copyOf(single);
  // Its tables are those of 12 blocks; then the newest one goes, behind proofd's back.
  assert.equal(await latestOf(directory), BLOCKS - 1);
  await tamper(directory, db =>
    db.del(Buffer.from(`b${"\0".repeat(5)}${String.fromCharCode(BLOCKS - 1)}`, "latin1")),
  );
  await assert.rejects(open(directory), {
    code: "STORE_DAMAGED",
    message: /is damaged: ACKNOWLEDGED: it says that block 11 was held, and the newest is block 10/,
  });
  const {code, stdout} = await runProofd(["check", "--db", directory]);
  assert.equal(code, 1);
  assert.match(stdout, /^ACKNOWLEDGED: it says that block 11 was held, and the newest is block 10$/m);
});

test("a rollback keeps the note right whenever it is broken off", async () => {
  const directory = await copyOf(single);
  const pool = await open(directory);
  await pool.rollback(8);
  const note = JSON.parse(await readFile(join(directory, NOTE), "utf8"));
  assert.equal(note.block, 8);
  await pool.close();
  assert.equal(await latestOf(directory), 8);

  // The note is lowered and on disk, the blocks are still there.
  const early = await copyOf(single);
  await writeFile(join(early, NOTE), notes[8] as Buffer);
  assert.equal(await latestOf(early), BLOCKS - 1);

  // The blocks are gone; of the notes written since, the oldest that may be on disk is the lowered one.
  const late = await copyOf(directory);
  await writeFile(join(late, NOTE), notes[8] as Buffer);
  assert.equal(await latestOf(late), 8);
  await importBlocks(late, BLOCKS);
  assert.equal(JSON.parse(await readFile(join(late, NOTE), "utf8")).block, BLOCKS - 1);
  assert.equal(await latestOf(late), BLOCKS - 1);
});

test("a rollback of which the log lost the end refuses the store: blocks that were removed do not come back", async () => {
  const directory = await copyOf(single);
  const pool = await open(directory);
  await pool.rollback(8);
  await pool.close();
  const name = await logOf(directory);
  await truncate(join(directory, name), 0);
  await assertRefused(directory, new RegExp(`${name}, byte 0: .*acknowledged blocks are lost`));
});

test("damage of CURRENT, of the manifest and a table that is gone or cut short are named", async () => {
  const tables = await copyOf(single);
  await (await open(tables)).close();
  const names = await readdir(tables);
  const manifest = names.find(name => name.startsWith("MANIFEST-")) as string;
  const table = names.find(name => name.endsWith(".ldb")) as string;
  const bytes = await readFile(join(tables, manifest));
  const pieces = logPieces(bytes);
  assert.ok(pieces.length >= 2);
  for (const piece of pieces)
    for (const at of placesIn(piece)) {
      const directory = await copyOf(tables);
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
      new RegExp(`${manifest}: it is not there, although CURRENT names it`),
    ],
    [
      (directory: string) => truncate(join(directory, manifest), pieces[1]?.start),
      new RegExp(`${manifest}: it has no next file number`),
    ],
    [
      (directory: string) => rm(join(directory, table)),
      new RegExp(`${table}: it is not there, although ${manifest} names it`),
    ],
    [
      (directory: string) => truncate(join(directory, table), 1000),
      new RegExp(`${table}: it has 1000 bytes, ${manifest} says \\d+`),
    ],
  ] as const) {
    const directory = await copyOf(tables);
    await change(directory);
    await assertRefused(directory, message);
  }
});

test("after a write that the disk refused nothing more is written, and the store opens with all that was acknowledged", async () => {
  const directory = await copyOf(single);
  const path = join(folder, "wide.ndjson");
  await writeFile(path, encodeLines(longChain(BLOCKS + 60, 60)));
  const limited = fileURLToPath(new URL("../../support/processes/limitedProcess.js", import.meta.url));
  // 2 MB: the log of the first blocks has half of it, the one that follows gets there within a batch.
  const limit = 'ulimit -f "$1"; shift; exec "$@"';
  const args = ["-c", limit, "sh", "4000", process.execPath, limited, directory, path];
  const {stdout} = await runChild("sh", args);
  const {acknowledged, first, second, rollback} = JSON.parse(stdout);
  assert.equal(first.ok, false);
  assert.match(first.message, /LevelDB says .*File too large/);
  assert.match(second.message, /a write to this store has failed before: restart to import/);
  assert.match(rollback, /a write to this store has failed before: restart to roll back/);
  const held = await latestOf(directory);
  assert.ok(
    held !== undefined && held >= Math.max(acknowledged ?? 0, BLOCKS - 1),
    `${held} of ${acknowledged}`,
  );
  const pool = await open(directory);
  const source = {kind: "diffs", path, follow: false} as const;
  const outcome = await pool.startImport({source, finalized: 0}, () => {}).outcome;
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  assert.equal(outcome.head.latest, BLOCKS + 59);
  await pool.close();
});

test("a store that another process has open is in use, whatever its files look like", async () => {
  const directory = await copyOf(bulk);
  const daemon = await startDaemon(["--db", directory]);
  try {
    await truncate(
      join(directory, (await readdir(directory)).find(name => name.endsWith(".ldb")) as string),
      10,
    );
    await assert.rejects(open(directory), {code: "STORE_IN_USE"});
    const {code, stderr} = await runProofd([
      "import",
      "--db",
      directory,
      "--diffs",
      join(folder, "more.ndjson"),
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /in use by another process/);
  } finally {
    await daemon.stop("SIGKILL");
  }
});

test("a block whose record is missing between others is -32603, named in the log and counted; a later one is unknown", async () => {
  const directory = await copyOf(bulk);
  const pool = await open(directory);
  const source = {kind: "diffs", path: join(folder, `blocks-${BLOCKS}.ndjson`), follow: false} as const;
  await pool.startImport({source, finalized: "last"}, () => {}).outcome;
  await pool.close();
  for (const block of [0, 5])
    await tamper(directory, db =>
      db.del(Buffer.from(`b${"\0".repeat(5)}${String.fromCharCode(block)}`, "latin1")),
    );
  const daemon = await startDaemon(["--db", directory, "--estimate-workers", "1"]);
  try {
    let damaged = 0;
    for (const block of ["0x0", "0x5"])
      for (const [method, params] of [
        ["chain_getStateRoot", [block]],
        ["chain_getProof", [addressAt(0), [], block]],
        ["chain_estimateGas", [{from: addressAt(0), to: addressAt(1)}, block]],
      ] as const) {
        const {error} = await daemon.call(method, params);
        assert.equal(error?.code, -32603, `${method} ${block}: ${JSON.stringify(error)}`);
        assert.ok(daemon.stderr.includes(error.data.requestId));
        assert.equal(await daemon.readMetric("proofd_damaged_records_total"), ++damaged);
      }
    assert.match(
      daemon.stderr,
      /RECORD_MISSING: record of block 5 is not in the store, although block 11 is/,
    );
    const {error} = await daemon.call("chain_getStateRoot", ["0xc"]);
    assert.equal(error.code, -32001);
    const {result} = await daemon.call("chain_getStateRoot", ["0x6"]);
    assert.equal(result.number, "0x6");
  } finally {
    await daemon.stop();
  }
});
