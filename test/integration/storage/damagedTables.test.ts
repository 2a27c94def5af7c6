/** Damage to LevelDB's tables: check names file and byte, LevelDB never gets to see what was verified to be damaged. */
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {existsSync} from "node:fs";
import {
  cp,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {uniformInt} from "pure-rand/distribution/uniformInt";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {readManifest} from "../../../storage/leveldb/manifest.ts";
import {TableBlocks} from "../../../storage/leveldb/tableBlocks.ts";
import {checkTables} from "../../../storage/leveldb/tableCheck.ts";
import {requireWholeFiles} from "../../../storage/leveldb/wholeFiles.ts";
import {blockKey, META, META_KEYS} from "../../../storage/record/layout.ts";
import {sealRecord} from "../../../storage/record/record.ts";
import {Engine} from "../../../workers/engine.ts";
import {startCheck} from "../../../workers/pool/runningCheck.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {addressAt, longChain} from "../../support/chains/longChain.ts";
import {readReadiness, UNVERIFIED, waitForHead} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Daemon} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {propertyRuns} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {importSource} from "../../support/stores/importedStore.ts";
import {tableParts} from "../../support/stores/tableParts.ts";
import {tamper} from "../../support/stores/tamper.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.js", import.meta.url));
const BLOCKS = 4;
const FLIPS_PER_PART = propertyRuns(1);

let folder: string;
let whole: string;
let table: number;
let copies = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-tables-"));
  whole = join(folder, "whole");
  const path = join(folder, "chain.ndjson");
  await writeFile(path, encodeLines(longChain(BLOCKS, 60)));
  await importSource(whole, {kind: "diffs", path}, {finalized: "last"});
  // Opening writes the log out as a table.
  await (await open(whole)).close();
  const names = (await readdir(whole)).filter(name => name.endsWith(".ldb"));
  assert.equal(names.length, 1);
  table = Number.parseInt(names[0] as string, 10);
});
after(async () => {
  await rm(folder, {recursive: true});
});

function open(directory: string): Promise<Engine> {
  return Engine.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
}

async function copyOfStore(): Promise<string> {
  const directory = join(folder, `copy-${copies++}`);
  await cp(whole, directory, {recursive: true, preserveTimestamps: true});
  return directory;
}

function tableFile(): string {
  return `${String(table).padStart(6, "0")}.ldb`;
}

/** Changes one byte of the table. */
async function flip(directory: string, at: number, bit: number): Promise<void> {
  const path = join(directory, tableFile());
  const bytes = await readFile(path);
  bytes[at] = (bytes[at] as number) ^ (1 << bit);
  await writeFile(path, bytes);
}

/** A byte of a page in the middle of the table, where LevelDB itself notices nothing. */
function byteOfAPage(directory: string): number {
  const {data} = tableParts(directory, table);
  const block = data[data.length >> 1] as {offset: number; size: number};
  return block.offset + (block.size >> 1);
}

test("a flipped bit in any part of a table is a finding with the file's name, and nothing of the store is changed", async () => {
  const {parts} = tableParts(whole, table);
  assert.equal(parts.length, 9);
  const random = xoroshiro128plus(3);
  const directory = await copyOfStore();
  for (const {name, start, end} of parts)
    for (let i = 0; i < FLIPS_PER_PART; i++) {
      const [at, bit] = [uniformInt(random, start, end - 1), uniformInt(random, 0, 7)];
      await flip(directory, at, bit);
      const before = await hashFiles(directory);
      const {found, filesDamaged} = await checkStore(directory);
      assert.ok(filesDamaged && found.length > 0, `${name}, byte ${at}, bit ${bit}: nothing found`);
      for (const text of found) assert.ok(text.startsWith(`${tableFile()}, byte `), text);
      assert.deepEqual(await hashFiles(directory), before);
      await flip(directory, at, bit);
    }
  assert.deepEqual((await checkStore(directory)).found, []);
});

test("check ends with exit code 1 and names file and byte, also of a table that is cut short or gone", async () => {
  const file = tableFile();
  const parts = new Map(tableParts(whole, table).parts.map(part => [part.name, part]));
  const at = parts.get("data block") as {start: number};
  const damages: readonly [(directory: string) => Promise<void>, RegExp][] = [
    [
      directory => flip(directory, at.start, 3),
      new RegExp(`^${file}, byte ${at.start}: data block: checksum`),
    ],
    [directory => truncate(join(directory, file), 5000), new RegExp(`^${file}: it has 5000 bytes, `)],
    [directory => truncate(join(directory, file), 0), new RegExp(`^${file}: it has 0 bytes, `)],
    [directory => rm(join(directory, file)), new RegExp(`^${file}: it is not there`)],
  ];
  for (const [damage, expected] of damages) {
    const directory = await copyOfStore();
    await damage(directory);
    const {code, stdout, stderr} = await runHere(["check", "--db", directory]);
    assert.equal(code, 1, stderr);
    assert.match(stdout, expected);
    assert.match(
      stdout,
      /1 finding; files are damaged or cannot be read, so their records were not checked\n$/,
    );
  }
});

test("a store with a damaged index, filter, metaindex or footer is refused by name before LevelDB opens", async () => {
  const random = xoroshiro128plus(5);
  const {parts} = tableParts(whole, table);
  const directory = await copyOfStore();
  for (const {name, start, end} of parts) {
    if (name.startsWith("data")) continue;
    const [at, bit] = [uniformInt(random, start, end - 1), uniformInt(random, 0, 7)];
    await flip(directory, at, bit);
    const before = await hashFiles(directory);
    await assert.rejects(open(directory), {
      code: "STORE_DAMAGED",
      message: new RegExp(`is damaged: ${tableFile()}, byte \\d+: (footer|[a-z]+ block): `),
    });
    assert.deepEqual(await hashFiles(directory), before);
    await flip(directory, at, bit);
  }
  await (await open(directory)).close();
});

test("a table of a closed store over which LevelDB would end the process is refused by its name", async () => {
  const directory = await copyOfStore();
  const path = join(directory, tableFile());
  const bytes = await readFile(path);
  // In each data block a first key of 3 bytes: LevelDB asserts that a key has 8.
  for (const {offset} of tableParts(whole, table).data) bytes[offset + 1] = 3;
  await writeFile(path, bytes);
  await assert.rejects(open(directory), {
    code: "STORE_DAMAGED",
    message: new RegExp(`is damaged: ${tableFile()}, byte 0: data block: checksum`),
  });
});

test("a flipped bit in the key of a record that says what the store is refuses a closed store of any size", async () => {
  const directory = await copyOfStore();
  const bytes = await readFile(join(directory, tableFile()));
  for (const key of Object.values(META)) {
    // A table leaves out the bytes that a key shares with the one before it.
    const at = bytes.indexOf(key.subarray(-4));
    assert.ok(at > 0, key.toString());
    await flip(directory, at, 1);
    await assert.rejects(requireWholeFiles(directory, META_KEYS, 0), {
      code: "STORE_DAMAGED",
      message: new RegExp(`is damaged: ${tableFile()}, byte \\d+: data block: checksum`),
    });
    await flip(directory, at, 1);
  }
  // Damage to a page's value does not refuse the store: the page's own checksum notices it.
  await flip(directory, byteOfAPage(directory), 0);
  await requireWholeFiles(directory, META_KEYS);
});

test("a record that says what the store is and is gone refuses the store, and check names it", async () => {
  for (const key of Object.values(META)) {
    const directory = await copyOfStore();
    await tamper(directory, db => db.del(key));
    const isFormat = key.equals(META.format);
    await assert.rejects(open(directory), {code: isFormat ? "FORMAT_MISMATCH" : "RECORD_MISSING"});
    if (isFormat) continue;
    const {found} = await checkStore(directory);
    assert.match(
      found.join("\n"),
      new RegExp(`RECORD_MISSING: ${key.subarray(1)} record is not in the store`),
    );
  }
});

test("a store of the older format is refused by name, also if an older release has rolled it back", async () => {
  const directory = await copyOfStore();
  await tamper(directory, async db => {
    await db.put(META.format, sealRecord(META.format, Buffer.from('{"version":3,"suite":"sha256"}')));
    await db.del(blockKey(BLOCKS - 1));
  });
  for (const opening of [open, checkStore])
    await assert.rejects(opening(directory), {
      code: "FORMAT_MISMATCH",
      message: /store format 3; this proofd reads 4/,
    });
});

test("a sparse table whose footer names a block of gigabytes is a finding", async () => {
  const directory = await copyOfStore();
  const size = 2 ** 33;
  const whole = TableBlocks.open(directory, table);
  const {metaindex, index} = whole.readFooter();
  whole.close();
  const footer = Buffer.alloc(48);
  const handles = [metaindex.offset, metaindex.size, index.offset, size - 48 - 5 - index.offset];
  footer.set(handles.flatMap(varint));
  footer.set(Buffer.from("57fb808b247547db", "hex"), 40);
  const file = await openFile(join(directory, tableFile()), "r+");
  await file.write(footer, 0, 48, size - 48);
  await file.close();
  const sparse = TableBlocks.open(directory, table);
  try {
    assert.throws(() => sparse.readBlock(sparse.readFooter().index, "index block"), {
      code: "STORE_DAMAGED",
      message: new RegExp(`^${tableFile()}, byte ${index.offset}: a block of \\d+ bytes`),
    });
  } finally {
    sparse.close();
  }
});

/** A number as LevelDB writes it: seven bits per byte, lowest first. */
function varint(number: number): number[] {
  return number < 0x80 ? [number] : [(number % 0x80) + 0x80, ...varint(Math.floor(number / 0x80))];
}

test("what the disk cannot read or open is named, and check goes on with the other files", async () => {
  const read = "byte 0: it cannot be read: EISDIR: illegal operation on a directory, read";
  const opened = "it cannot be read: ELOOP";
  for (const damage of ["flip", "loop"]) {
    const directory = await copyOfStore();
    const logs = (await readdir(directory)).filter(name => name.endsWith(".log"));
    if (damage === "flip") await flip(directory, byteOfAPage(directory), 0);
    else await makeLoop(directory, tableFile());
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
    assert.match(all, new RegExp(`^${tableFile()}${ofTable}`, "m"));
  }
});

/** In place of the file a symlink to itself, which the system does not open. */
async function makeLoop(directory: string, name: string): Promise<void> {
  await rm(join(directory, name));
  await symlink(name, join(directory, name));
}

test("a table that does not open is a finding of its own, and no damage where the store is opened", async () => {
  const directory = await copyOfStore();
  const {tables} = await readManifest(directory);
  await makeLoop(directory, tableFile());
  await rm(join(directory, "ACKNOWLEDGED"));
  for await (const {damage} of checkTables(directory, tables.values(), "whole"))
    assert.match(
      damage.map(({file, what}) => `${file}: ${what}`).join(),
      /^\d+\.ldb: it cannot be read: ELOOP/,
    );
  await assert.rejects(open(directory), {
    code: "STORE_UNREADABLE",
    message: new RegExp(`cannot be read: ${tableFile()}: it cannot be read: ELOOP`),
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
    const directory = await copyOfStore();
    const name = isManifest ? (await readManifest(directory)).name : "CURRENT";
    await change(directory, name);
    await spoil(directory, "ACKNOWLEDGED");
    const {found} = await checkStore(directory);
    assert.equal(found.length, 2);
    assert.match(found[0] as string, new RegExp(`^${name}`));
    assert.equal(found[1], "ACKNOWLEDGED: it is not what was written");
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
  await symlink("/proc/self/mem", join(folder, "000099.ldb"));
  const memory = TableBlocks.open(folder, 99);
  try {
    assert.throws(() => memory.read(end - 4096, 8192), {
      message: new RegExp(`^000099.ldb, byte ${end}: it cannot be read: EIO`),
    });
  } finally {
    memory.close();
  }
});

test("a store that a power cut left before it was made is made anew", async () => {
  const directory = join(folder, "unborn");
  for (const manifest of ["", "\0".repeat(50)]) {
    await mkdir(directory);
    await writeFile(join(directory, "CURRENT"), "MANIFEST-000001\n");
    await writeFile(join(directory, "MANIFEST-000001"), manifest);
    await writeFile(join(directory, "MANIFEST-000002"), "half");
    for (const name of ["LOCK", "LOG", "000003.log"]) await writeFile(join(directory, name), "");
    await assert.rejects(checkStore(directory), {code: "STORE_MISSING"});
    await (await open(directory)).close();
    await rm(directory, {recursive: true});
  }
  // With a byte in the log it is one that was made.
  await mkdir(directory);
  await writeFile(join(directory, "CURRENT"), "MANIFEST-000001\n");
  await writeFile(join(directory, "000003.log"), "x");
  await assert.rejects(open(directory), {code: "STORE_DAMAGED"});
});

test("check writes nothing into the store's folder, which may be mounted read-only", async t => {
  const directory = await copyOfStore();
  const read = async (): Promise<unknown> => {
    const names = (await readdir(directory)).sort();
    const stats = await Promise.all(names.map(name => stat(join(directory, name))));
    const times = stats.map(({mtimeMs, size, ino}) => ({mtimeMs, size, ino}));
    return {times, hashes: await hashFiles(directory), folder: (await stat(directory)).mtimeMs};
  };
  const before = await read();
  for (const more of [["--sample", "20"], ["--block", "1"], []])
    assert.equal((await runHere(["check", "--db", directory, ...more])).code, 0);
  assert.deepEqual(await read(), before);
  const script =
    'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && { touch "$1/x"; exec "$2" "$3" check --db "$1"; }';
  const child = spawn("unshare", ["-rm", "sh", "-c", script, "sh", directory, process.execPath, MAIN]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", chunk => (output += chunk));
  const code = await Promise.race([
    once(child, "error").then(() => null),
    once(child, "close").then(([c]) => c),
  ]);
  if (code === null || /unshare|mount/.test(output)) return notRun(t, "no read-only mounts here");
  assert.match(output, /Read-only file system/);
  assert.match(output, /nothing wrong\n$/);
  assert.equal(code, 0);
  assert.deepEqual(await read(), before);
});

test("check runs beside a service that imports", async () => {
  const lines = longChain(20, 10);
  const directory = join(folder, "busy");
  const service = await OwnService.fed(directory);
  try {
    service.input.write(encodeLines(lines.slice(0, 10)));
    await waitForHead(service, 9);
    service.input.write(encodeLines(lines.slice(10)));
    const {code, stdout, stderr} = await runHere(["check", "--db", directory]);
    assert.equal(code, 0, stdout + stderr);
    await waitForHead(service, 19);
  } finally {
    await service.stop();
  }
});

test("a check that is stopped says so and where, and its exit code is the signal's", async () => {
  const daemon = new Daemon(["check", "--db", whole, "--sample", String(Number.MAX_SAFE_INTEGER)]);
  await daemon.waitForStderr(/check: \d+ pages, block 3/);
  const {code, stdout} = await daemon.stop("SIGTERM");
  assert.equal(code, 143);
  assert.match(
    stdout,
    /^stopped by SIGTERM at block 3(, account tree.*)?, before the end; checked .*, \d+ pages, .*: nothing wrong\n$/,
  );
  const running = startCheck({directory: whole, extent: "tables"}, () => {});
  running.stop();
  assert.equal((await running.outcome).stoppedAt, tableFile());
});

test("serve --verify finds a damaged table while it answers, says which, shows progress and is no longer ready", async () => {
  const directory = await copyOfStore();
  const at = byteOfAPage(directory);
  await flip(directory, at, 0);
  const size = (await stat(join(directory, tableFile()))).size;
  const daemon = await OwnService.serve(["--db", directory, "--verify"]);
  try {
    await daemon.waitForStderr(/the tables are verified/);
    assert.match(
      daemon.stderr,
      new RegExp(`"where":"${tableFile()}, byte \\d+","what":"data block: checksum`),
    );
    assert.match(daemon.stderr, /"tables":1,"bytes":\d+,"msg":"verifying the tables"/);
    assert.equal(await daemon.readMetric("proofd_verify_findings_total"), 1);
    assert.equal(await daemon.readMetric('proofd_verify_bytes{which="all"}'), size);
    assert.equal(await daemon.readMetric('proofd_verify_bytes{which="done"}'), size);
    assert.deepEqual(await readReadiness(daemon), [503, `a table of the store is damaged\n${UNVERIFIED}`]);
    const {result} = await daemon.call("chain_getProof", [addressAt(1), [], "0x3"]);
    assert.ok(result.accountProof.leafIndex > 1);
  } finally {
    await daemon.stop();
  }
});

test("serve --verify of a sound store stays ready, and stops at once with the service", async () => {
  const daemon = await OwnService.serve(["--db", whole, "--verify"]);
  await daemon.waitForStderr(/"findings":0,"msg":"the tables are verified"/);
  assert.equal((await daemon.get("/readyz")).status, 200);
  await daemon.stop();
});
