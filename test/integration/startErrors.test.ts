/** What a command cannot start with, and how it says so; that nothing is left behind. */
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {existsSync, mkdirSync, readdirSync} from "node:fs";
import {chmod, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {runProofd, startDaemon} from "../support/daemon.ts";
import {encodeLines} from "../support/differenceLine.ts";
import {createLine, createLines, hashOfBlock, WorkFolder} from "../support/serviceChain.ts";

const MAIN = fileURLToPath(new URL("../../server/main.js", import.meta.url));

let folder: WorkFolder;
let db: string;

before(async () => {
  folder = await WorkFolder.create();
  db = await folder.importChain("db", 3, 3);
});

after(() => folder.remove());

async function assertFails(
  args: readonly string[],
  message: RegExp,
  options: {readonly code?: number; readonly env?: Record<string, string>; readonly input?: string} = {},
): Promise<void> {
  const {code = 1, ...rest} = options;
  const finished = await runProofd(args, rest);
  assert.match(finished.stderr, message, args.join(" "));
  assert.doesNotMatch(finished.stderr, /unexpected|^ {4}at /m);
  assert.equal(finished.code, code, args.join(" "));
}

function demo(name: string): string {
  return fileURLToPath(new URL(`../../../demo/${name}`, import.meta.url));
}

/** Runs proofd with a limit of open files. */
function runLimited(files: number, args: readonly string[]): Promise<{code: unknown; stderr: string}> {
  const command = `ulimit -n ${files} && exec "$0" "$@"`;
  return new Promise(resolve => {
    const child = execFile(
      "sh",
      ["-c", command, process.execPath, MAIN, ...args],
      {env: {PATH: process.env.PATH}},
      (error, _stdout, stderr) => resolve({code: error === null ? 0 : error.code, stderr}),
    );
    child.stdin?.end();
  });
}

test("too few open files are named with what is needed, and that many are enough", {
  skip: process.platform === "win32" && "no limit there",
}, async () => {
  const serve = ["serve", "--db", db, "--port", "0", "--workers", "2", "--no-estimate"];
  const few = await runLimited(40, serve);
  assert.equal(few.code, 1, few.stderr);
  const message = /^error: this process may open (\d+) files \(ulimit -n\), and needs at least (\d+)/;
  assert.match(few.stderr, message);
  const toStart = Number(message.exec(few.stderr)?.[2]);
  const tooFew = await runLimited(toStart, serve);
  assert.equal(tooFew.code, 1, tooFew.stderr);
  assert.match(tooFew.stderr, / with 2 proof and estimate threads: raise the limit\n$/);
  assert.ok(Number(message.exec(tooFew.stderr)?.[2]) > toStart);
  const chain = ["--genesis", demo("genesis.json"), "--blocks", demo("chain.rlp")];
  const enough = await runLimited(toStart, ["import", "--db", folder.file("limited"), ...chain]);
  assert.equal(enough.code, 0, enough.stderr);
});

test("a folder that cannot be made is an error", {
  skip: process.platform !== "linux" && "/proc is Linux's",
}, async () => {
  for (const path of ["/proc/x", "/proc/x/y"])
    await assertFails(
      ["serve", "--db", path, "--diffs", folder.file("db.ndjson"), "--port", "0"],
      /cannot make the folder \/proc\/x: the file system of \/proc takes no folders/,
    );
});

test("a folder below a file, or a file for a folder, is called what it is", async () => {
  const file = folder.file("db.ndjson");
  for (const path of [file, join(file, "x"), join(file, "x", "y")]) {
    const message = new RegExp(`${file} is not a folder`);
    await assertFails(["serve", "--db", path, "--diffs", file], message);
    await assertFails(["serve", "--db", path], message);
    await assertFails(["import", "--db", path, "--diffs", file], message);
    await assertFails(["finalize", "--db", path, "--to", "0"], message);
  }
});

test("an environment variable that no command knows is refused, one of another command is not", async () => {
  const message =
    /^error: unknown environment variable PROOFD_MAX_BACTH: no command has a flag of that name$/m;
  for (const args of [
    ["serve", "--db", db],
    ["finalize", "--db", db, "--to", "1"],
  ])
    await assertFails(args, message, {code: 2, env: {PROOFD_MAX_BACTH: "1"}});
  const env = {PROOFD_MAX_BATCH: "7", PROOFD_BENCH_SLOTS: "3", PROOFD_HEAD: hashOfBlock(1)};
  const {code, stderr} = await runProofd(["finalize", "--db", db, "--to", "1"], {env});
  assert.equal(code, 0, stderr);
  const help = await runProofd(["serve", "--help"], {env: {PROOFD_MAX_BACTH: "1"}});
  assert.equal(help.code, 0);
});

test("a host that cannot be resolved, or is not this machine's, is called so", async () => {
  const serve = ["serve", "--db", db, "--port", "0", "--host"];
  await assertFails(
    [...serve, "no.such.host.invalid"],
    /the host no\.such\.host\.invalid cannot be resolved/,
  );
  await assertFails(
    [...serve, "192.0.2.1"],
    /cannot listen on 192\.0\.2\.1:0: this machine has no such address/,
  );
});

test("--chain-id of another chain is refused before the demo is imported", async () => {
  const target = folder.file("demo5");
  await assertFails(
    ["serve", "--demo", "--db", target, "--chain-id", "5", "--port", "0"],
    /--demo: block 0 is of chain \d+, expected is chain 5/,
  );
  assert.equal(existsSync(target), false);
});

test("a command that fails leaves no store behind, and no folder that it made", async () => {
  const made = folder.file("made");
  const bad = {input: "hello\n"};
  await assertFails(["import", "--db", join(made, "a", "b"), "--diffs", "-"], /line 1/, bad);
  assert.equal(existsSync(made), false);
  const missing = folder.file("nowhere");
  await assertFails(["import", "--db", made, "--diffs", missing], /nowhere/);
  assert.equal(existsSync(made), false);
  const other = await startDaemon(["--db", db]);
  try {
    const serve = ["serve", "--db", made, "--diffs", "-", "--port", String(other.port)];
    await assertFails(serve, /the address is in use/);
  } finally {
    await other.stop();
  }
  assert.equal(existsSync(made), false);
});

test("a folder that was there stays, and so does a store that was, or that holds a block", async () => {
  const empty = folder.file("empty");
  mkdirSync(empty);
  await chmod(empty, 0o750);
  await assertFails(["import", "--db", empty, "--diffs", "-"], /line 1/, {input: "hello\n"});
  assert.deepEqual(readdirSync(empty), []);
  const good = encodeLines(createLines(0, 1));
  await assertFails(["import", "--db", empty, "--diffs", "-"], /line 3/, {input: `${good}hello\n`});
  await assertFails(["import", "--db", empty, "--diffs", "-"], /line 1/, {input: "hello\n"});
  const {stdout} = await runProofd(["import", "--db", empty, "--diffs", "-"], {input: good});
  assert.match(stdout, /^imported 0 blocks, 2 already held/);
});

test("a rollback that is refused says so once", async () => {
  const {stderr} = await runProofd(["rollback", "--db", db, "--to", "2"]);
  assert.equal(
    stderr,
    "error: cannot roll back to block 2: blocks up to 3 are finalized, and finalized blocks are not removed\n",
  );
});

test("import --head takes a source that ends there, and of another one all but its last block", async () => {
  const lines = encodeLines([createLine(0), createLine(1, 1), createLine(2)]);
  const importTo = (name: string, head: string, input: string) =>
    runProofd(["import", "--db", folder.file(name), "--diffs", "-", "--head", head, "--finalized", "last"], {
      input,
    });
  const right = await importTo("head", hashOfBlock(2), lines);
  assert.equal(
    right.stdout,
    `imported 3 blocks; blocks 0 to 2 are held, finalized up to 2; head: block 2, ${hashOfBlock(2)}\n`,
    right.stderr,
  );
  const wrong = await importTo("wrong", hashOfBlock(9), lines);
  assert.equal(wrong.code, 1);
  assert.ok(
    wrong.stderr.includes(
      `error: the source ends at block 2 (${hashOfBlock(2)}); expected is the head ${hashOfBlock(9)}\n`,
    ),
    wrong.stderr,
  );
  // Not even what a line says is final, before the source has shown that it is the right one.
  assert.match(
    wrong.stderr,
    /imported 2 blocks; blocks 0 to 1 are held, finalized up to none; head: block 1, /,
  );
  const beyond = await importTo("beyond", hashOfBlock(1), lines);
  assert.equal(beyond.code, 1);
  assert.match(beyond.stderr, /goes on with block 2 after block 1, which is the head asked for/);
  assert.match(beyond.stderr, /blocks 0 to 1 are held, finalized up to 1/);
  const none = await importTo("none", hashOfBlock(1), "");
  assert.match(none.stderr, /the source has no block; expected is the head 0x/);
  assert.equal(existsSync(folder.file("none")), false);
  await assertFails(
    ["import", "--db", folder.file("x"), "--diffs", "-", "--head", "0x12"],
    /argument '0x12' is invalid. Expected a hash/,
    {code: 2},
  );
});

test("import --head refuses a chain whose last block was changed, and keeps the blocks before it", async () => {
  const chain = await readFile(demo("chain.rlp"));
  const target = folder.file("changed");
  const args = ["--genesis", demo("genesis.json"), "--blocks"];
  const whole = await runProofd(["import", "--db", target, ...args, demo("chain.rlp")]);
  const head = /head: block 100, (0x[0-9a-f]{64})$/m.exec(whole.stdout)?.[1] as string;
  // The last block's gas limit: the field after its number, 100.
  const at = chain.lastIndexOf(Buffer.from([0x80, 0x64, 0x84]));
  assert.ok(at > 0, "the header's difficulty, number and gas limit");
  chain[at + 6] = (chain[at + 6] as number) ^ 1;
  const changed = folder.file("changed.rlp");
  await writeFile(changed, chain);
  const again = folder.file("again");
  const {code, stderr} = await runProofd(["import", "--db", again, ...args, changed, "--head", head]);
  assert.equal(code, 1);
  assert.match(stderr, /the source ends at block 100 \(0x.*\); expected is the head 0x/);
  assert.match(stderr, /imported 100 blocks; blocks 0 to 99 are held/);
});
