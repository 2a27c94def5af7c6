/** `proofd snapshot` of a service that imports, in processes of their own: restored by copying, killed, on full disks. */
import assert from "node:assert/strict";
import {existsSync, readdirSync, watch} from "node:fs";
import {cp, mkdir, readdir, rm} from "node:fs/promises";
import {before, test} from "node:test";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {addressAt, longChain} from "../../support/chains/longChain.ts";
import {diffsFlags, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForHead} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Daemon, type Finished, runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const LINES = longChain(40, 30);

const folder = new WorkFolder();
/** A store with a table and a log of 6 blocks, which nobody has open. */
let closed: string;
before(async () => {
  closed = folder.file("closed");
  await importLines(closed, LINES.slice(0, 3), {finalized: "last"});
  await importLines(closed, LINES.slice(0, 6), {finalized: "last"});
});

async function firstChange(path: string): Promise<void> {
  const watcher = watch(path);
  await new Promise(resolve => watcher.once("change", resolve));
  watcher.close();
}

test("snapshots of a service that imports have its blocks and proofs, also as a copy of the copy", async () => {
  const db = folder.file("live");
  const daemon = await OwnService.fed(db, ["--finalized", "last", "--history", "8"]);
  daemon.input.write(encodeLines(LINES.slice(0, 10)));
  await waitForHead(daemon, 9);
  const outs = [folder.file("first"), folder.file("second")];
  const lines: Record<string, unknown>[] = [];
  let next = 10;
  for (const out of outs) {
    const snapshot = new Daemon(["snapshot", "--db", db, "--out", out]);
    let isOver = false;
    void snapshot.finished.then(() => {
      isOver = true;
    });
    // One block after the other, as a chain brings them.
    for (; !isOver && next < LINES.length; next++) {
      daemon.input.write(encodeLines(LINES.slice(next, next + 1)));
      await waitForHead(daemon, next);
    }
    const {code, stdout, stderr} = await snapshot.finished;
    assert.equal(code, 0, stderr);
    lines.push(JSON.parse(stdout));
  }
  assert.ok(next > 11, `blocks were imported meanwhile, up to ${next - 1}`);
  for (const [at, line] of lines.entries()) {
    const {msg, out, block, hash, stateRoot, finalized, linkedBytes, copiedBytes} = line;
    assert.deepEqual([msg, out, finalized], ["snapshot", outs[at], block]);
    assert.ok((linkedBytes as number) + (copiedBytes as number) > 0);
    assert.deepEqual((await checkStore(outs[at] as string)).found, []);
    const restored = folder.file(`restored-${at}`);
    await cp(outs[at] as string, restored, {recursive: true});
    const service = await OwnService.serve(["--db", restored]);
    const selector = `0x${(block as number).toString(16)}`;
    try {
      const own = (await service.call("chain_getStateRoot", ["latest"])).result;
      assert.deepEqual([own.number, own.hash, own.stateRoot], [selector, hash, stateRoot]);
      for (const i of [0, 7, 200]) {
        const params = [addressAt(i), ["0x0", "0x7"], selector];
        const {result, error} = await daemon.call("chain_getProof", params);
        // The live service may have pruned the block meanwhile.
        if (error !== undefined) assert.match(error.message, /pruned/);
        else assert.deepEqual((await service.call("chain_getProof", params)).result, result);
      }
    } finally {
      await service.stop();
    }
  }
  await daemon.stop();
  // A restored store goes on where the snapshot was made.
  const rest = folder.file("rest.ndjson");
  await importLines(rest, LINES.slice(0, next), {finalized: "last"});
  const args = ["import", ...diffsFlags(folder.file("restored-0"), `${rest}.ndjson`), "--finalized", "last"];
  const {code, stdout, stderr} = await runHere(args);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`head: block ${next - 1}, ${LINES[next - 1]?.hash}`));
});

/** Ends a snapshot while it is made. On a busy machine the signal may come too late. @returns its end and its folder, which is alone */
async function endSnapshot(parent: string, signal: NodeJS.Signals): Promise<Finished & {out: string}> {
  await mkdir(parent);
  for (let attempt = 1; ; attempt++) {
    const out = `${parent}/out-${attempt}`;
    const snapshot = new Daemon(["snapshot", "--db", closed, "--out", out]);
    await firstChange(parent);
    const finished = await snapshot.stop(signal);
    if (!existsSync(out)) return {...finished, out};
    assert.ok(attempt < 20, "a snapshot never ends before it is made");
    await rm(out, {recursive: true});
  }
}

test("a snapshot that is killed leaves nothing at its place, and the next one removes what it left", async () => {
  const before = await hashFiles(closed);
  const parent = folder.file("killed");
  await endSnapshot(parent, "SIGKILL");
  const [left, ...others] = readdirSync(parent);
  assert.ok(left?.includes(".unfinished-") && others.length === 0, `${left} ${others}`);
  assert.deepEqual(await hashFiles(closed), before);
  const {code, stderr} = await runHere(["snapshot", "--db", closed, "--out", `${parent}/next`]);
  assert.equal(stderr, `snapshot: removed ${parent}/${left}, which another snapshot had left unfinished\n`);
  assert.equal(code, 0);
  assert.deepEqual((await checkStore(`${parent}/next`)).found, []);
  assert.deepEqual(readdirSync(parent), ["next"]);
});

test("a snapshot that is stopped leaves nothing, and its exit code is the signal's", async () => {
  const parent = folder.file("stopped");
  const {code, stdout, stderr} = await endSnapshot(parent, "SIGTERM");
  assert.deepEqual([code, stdout, stderr], [143, "", "SIGTERM: stopped; no snapshot is made\n"]);
  assert.deepEqual(readdirSync(parent), []);
});

/** Mounts a file system in memory at $2 with the options $1, runs what follows $3, lists $2, and copies $2/out to $3. */
const MOUNTED =
  'mount -t tmpfs -o "$1" tmpfs "$2"; disk=$2; copy=$3; shift 3; code=0; "$@" || code=$?; echo "left:" $(ls -A "$disk"); ' +
  'if [ -e "$disk/out" ]; then cp -r "$disk/out" "$copy"; fi; exit $code';

/** @returns undefined if nothing can be mounted here */
async function snapshotTo(
  options: string,
  copy: string,
): Promise<{code: number | null; left: string; stdout: string; stderr: string} | undefined> {
  const disk = folder.file("memory");
  await mkdir(disk, {recursive: true});
  const sh = ["sh", "-e", "-c", MOUNTED, "sh", options, disk, copy];
  const under = ["unshare", "--mount", "--map-root-user", ...sh];
  const args = ["snapshot", "--db", closed, "--out", `${disk}/out`];
  const {code, stdout, stderr} = await runProofd(args, {under});
  if (/unshare|^mount/.test(stderr)) return undefined;
  const [text = "", left = ""] = stdout.split("left:");
  return {code, left: left.trim(), stdout: text, stderr};
}

test("on another file system tables are copied, and a copy of that with `cp -r` is a store", async t => {
  const copy = folder.file("elsewhere");
  const made = await snapshotTo("size=64m", copy);
  if (made === undefined) return notRun(t, "nothing can be mounted here");
  assert.equal(made.code, 0, made.stderr);
  const {linkedBytes, copiedBytes, block} = JSON.parse(made.stdout);
  assert.deepEqual([linkedBytes, block, made.left], [0, 5, "out"]);
  assert.ok(copiedBytes > 0);
  const tables = (await readdir(copy)).filter(name => name.endsWith(".ldb"));
  assert.ok(tables.length > 0);
  assert.deepEqual((await checkStore(copy)).found, []);
});

for (const [options, pattern] of [
  ["size=64k", /cannot write .*no space left on device/],
  ["size=64m,ro", /cannot make .*read-only file system/],
] as const)
  test(`a target with ${options} is named, nothing is left there, and the store is as before`, async t => {
    const before = await hashFiles(closed);
    const made = await snapshotTo(options, folder.file("never"));
    if (made === undefined) return notRun(t, "nothing can be mounted here");
    assert.match(made.stderr, new RegExp(`^error: cannot make a snapshot of the store in ${closed}: `));
    assert.match(made.stderr, pattern);
    assert.deepEqual([made.code, made.left, made.stdout], [1, "", ""]);
    assert.deepEqual(await hashFiles(closed), before);
  });

test("a folder that is there, one whose parent is not, one within the store, and a store without blocks are refused", async () => {
  const taken = folder.file("taken");
  await mkdir(taken);
  const none = folder.file("none");
  const empty = folder.file("empty");
  await importLines(empty, []);
  const cases: readonly [db: string, out: string, reason: RegExp, code?: number][] = [
    [closed, taken, /taken is there already/],
    [closed, `${none}/out`, /the folder .*none does not exist/],
    [closed, `${closed}/out`, /lies in the folder of the store/],
    [none, folder.file("out"), /none holds no store/, 2],
    [empty, folder.file("out"), /empty holds no block yet/],
  ];
  for (const [db, out, reason, expected = 1] of cases) {
    const {code, stdout, stderr} = await runHere(["snapshot", "--db", db, "--out", out]);
    assert.deepEqual([code, stdout], [expected, ""]);
    assert.match(stderr, reason);
  }
  assert.ok(!existsSync(folder.file("out")));
});
