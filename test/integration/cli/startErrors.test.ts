/** What a command cannot start with, and how it says so; that nothing is left behind. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {cpSync, existsSync, mkdirSync, readdirSync, rmSync} from "node:fs";
import {chmod, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createLines, diffsFlags, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {writeShortChain} from "../../support/chains/shortChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {type Finished, runChild} from "../../support/processes/childProcesses.ts";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {runAllHere, runHere} from "../../support/processes/ownCommand.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.js", import.meta.url));

const folder = new WorkFolder();
let db: string;

before(async () => {
  db = await folder.importChain("db", 3, 3);
});

function assertFailed(
  finished: Pick<Finished, "code" | "stderr"> | undefined,
  code: number,
  message: RegExp,
  args: readonly string[],
): void {
  assert.match(finished?.stderr ?? "", message, args.join(" "));
  assert.doesNotMatch(finished?.stderr ?? "", /unexpected|^ {4}at /m);
  assert.equal(finished?.code, code, args.join(" "));
}

async function assertAllFail(
  table: readonly (readonly [args: readonly string[], message: RegExp, code?: number])[],
): Promise<void> {
  const ends = await runAllHere(table.map(([args]) => args));
  for (const [i, [args, message, code = 1]] of table.entries()) assertFailed(ends[i], code, message, args);
}

/** Runs proofd with a limit: `-n` of open files, `-v` of the address space in KiB. */
function runLimited(limit: "-n" | "-v", most: number, args: readonly string[]): Promise<Finished> {
  const command = `ulimit ${limit} ${most} && exec "$0" "$@"`;
  const env = {PATH: process.env.PATH ?? ""};
  return runChild("sh", ["-c", command, process.execPath, MAIN, ...args], {env});
}

test("too few open files are named with what is needed, and that many are enough", {
  skip: process.platform === "win32" && "no limit there",
}, async () => {
  const serve = ["serve", "--db", db, "--port", "0", "--workers", "2", "--estimate-workers", "0"];
  const message = /^error: this process may open (\d+) files \(ulimit -n\) but needs at least (\d+)/;
  const toStart = 128;
  // With the first ones, not even the modules that know the limit can be loaded.
  for (const most of [24, 28, 40]) {
    const few = await runLimited("-n", most, serve);
    assert.equal(few.code, 1, few.stderr);
    assert.deepEqual(message.exec(few.stderr)?.slice(1).map(Number), [most, toStart], few.stderr);
  }
  const tooFew = await runLimited("-n", toStart, serve);
  assert.equal(tooFew.code, 1, tooFew.stderr);
  assert.match(tooFew.stderr, / with 2 proof and estimate threads. Raise the limit\n$/);
  assert.ok(Number(message.exec(tooFew.stderr)?.[2]) > toStart);
  const chain = await writeShortChain(folder.file("short.rlp"));
  const enough = await runLimited("-n", toStart, ["import", "--db", folder.file("limited"), ...chain]);
  assert.equal(enough.code, 0, enough.stderr);
});

test("too little address space is named with what is needed, for a command and for the threads of a service", {
  skip: process.platform !== "linux" && "other systems have no such limit",
}, async () => {
  const serve = ["serve", "--db", db, "--port", "0", "--workers", "2", "--estimate-workers", "0"];
  const gibibyte = 2 ** 20;
  for (const [gibibytes, needed] of [
    [4, "64 GiB"],
    [128, "320 GiB with 2 proof and estimate threads"],
  ] as const) {
    const message = `error: this process may reserve ${gibibytes}.0 GiB of address space (ulimit -v) but needs at least ${needed}: `;
    const {code, stderr} = await runLimited("-v", gibibytes * gibibyte, serve);
    assert.ok(stderr.startsWith(message) && stderr.split("\n").length === 2, stderr);
    assert.equal(code, 1);
  }
});

test("a folder that cannot be made is an error", {
  skip: process.platform !== "linux" && "/proc is Linux's",
}, async () => {
  const message = /cannot make the folder \/proc\/x: the file system of \/proc takes no folders/;
  const serve = (path: string) => ["serve", ...diffsFlags(path, folder.file("db.ndjson")), "--port", "0"];
  await assertAllFail([
    [serve("/proc/x"), message],
    [serve("/proc/x/y"), message],
  ]);
});

test("a folder below a file, or a file for a folder, is called what it is", async () => {
  const file = folder.file("db.ndjson");
  const message = new RegExp(`${file}: expected a folder, got a file`);
  await assertAllFail([
    [["check", "--db", file], message],
    [["snapshot", "--db", file, "--out", folder.file("copy")], message],
  ]);
  await assertAllFail(
    [file, join(file, "x", "y")].flatMap(path => [
      [["serve", ...diffsFlags(path, file)], message] as const,
      [["serve", "--db", path], message] as const,
      [["import", ...diffsFlags(path, file)], message] as const,
      [["finalize", "--db", path, "--to", "0"], message] as const,
    ]),
  );
});

test("an environment variable that no command knows is refused, one of another command is not", async () => {
  const message =
    /^error: unknown environment variable PROOFD_MAX_QUEU: no command has a flag of that name$/m;
  const finalize = ["finalize", "--db", db, "--to", "1"];
  assertFailed(await runHere(finalize, {PROOFD_MAX_QUEU: "1"}), 2, message, finalize);
  const known = {PROOFD_MAX_QUEUE: "7", PROOFD_LOAD_SLOTS: "3", PROOFD_HEAD: hashOfBlock(1)};
  const {code, stderr} = await runHere(finalize, known);
  assert.equal(code, 0, stderr);
  assert.equal((await runHere(["serve", "--help"], {PROOFD_MAX_QUEU: "1"})).code, 0);
});

test("variables that Kubernetes sets for a service are ignored with a warning", async () => {
  const variables = {PROOFD_PORT: "tcp://10.0.0.1:8545", PROOFD_SERVICE_HOST: "10.0.0.1"};
  const {code, stderr} = await runHere(["finalize", "--db", db, "--to", "1"], variables);
  assert.equal(code, 0);
  assert.match(stderr, /^warning: ignored PROOFD_PORT, PROOFD_SERVICE_HOST: Kubernetes /);
});

test("a genesis file that is none ends the service with exit code 2, though its node may still come up", async () => {
  const [target, genesis] = [folder.file("noGenesis"), folder.file("genesis.json")];
  await writeFile(genesis, "{}");
  const l2 = ["--l2", "http://127.0.0.1:9", "--genesis", genesis, "--port", "0", "--estimate-workers", "0"];
  const end = await runHere(["serve", "--db", target, ...l2]);
  assert.equal(end.code, 2, end.stderr);
  assert.match(end.stderr, /^error: the import can never succeed: .*alloc is missing/m);
});

test("a genesis file with an address or a slot twice, in two spellings, ends an import with exit code 2", async () => {
  const [genesis, blocks] = [folder.file("twice.json"), folder.file("noBlocks")];
  await writeFile(blocks, "");
  const [address, slot] = ["aa".repeat(20), `${"0".repeat(63)}a`];
  for (const [alloc, message] of [
    [
      `"${address}":{"balance":"1"},"${address.toUpperCase()}":{"balance":"1"}`,
      /^error: genesis: alloc: .* twice$/m,
    ],
    [`"${address}":{"balance":"1","storage":{"${slot}":"1","${slot.toUpperCase()}":"1"}}`, /slot .* twice$/m],
  ] as const) {
    await writeFile(genesis, `{"config":{"chainId":1},"gasLimit":"1","difficulty":"0","alloc":{${alloc}}}`);
    const end = await runHere([
      ...["import", "--db", folder.file("twice")],
      ...["--genesis", genesis, "--blocks", blocks],
    ]);
    assert.equal(end.code, 2, end.stderr);
    assert.match(end.stderr, message);
  }
});

test("what can never work ends with exit code 2, whatever a node may say later", async () => {
  const missing = folder.file("nowhere");
  const l2 = ["--l2", "http://127.0.0.1:9"];
  const [publish, feed] = [
    ["--publish", "nats://127.0.0.1:9", ...l2],
    ["--feed", "nats://127.0.0.1:9", "--chain-id", "1"],
  ];
  const to = (name: string) => ["--db", folder.file(name), "--port", "0", "--estimate-workers", "0"];
  const into = (name: string) => ["import", "--db", folder.file(name)];
  const unread = /cannot read .*nowhere: ENOENT/;
  const noGenesis = /the store is empty and --genesis is not given/;
  // A store beside which there is no room for snapshots.
  const top = /\/dev\/shm is the top of a mounted volume: .* such as \/dev\/shm\/db$/m;
  const beside = process.platform === "linux" ? [publish, feed] : [];
  await assertAllFail([
    [["serve", ...to("none1"), "--diffs", missing], unread, 2],
    [["serve", ...to("none2"), ...l2, "--genesis", missing], unread, 2],
    [["serve", ...to("none3"), ...l2, "--source", "trace"], noGenesis, 2],
    [["serve", ...to("none4"), "--feed", "nats://127.0.0.1:9"], /--chain-id must name the chain/, 2],
    ...beside.map(flags => [["serve", "--db", "/dev/shm", ...flags], top, 2] as const),
    [[...into("none5"), ...l2, "--source", "execute"], noGenesis, 2],
    [[...into("none6"), "--genesis", missing, "--blocks", missing], unread, 2],
    [[...into("none7"), "--diffs", folder.file("")], /expected a file or a pipe, got a folder/, 2],
    [[...into("none8"), "--pull", missing], /--pull: .*expected manifest.json in it/, 2],
  ]);
});

/** Tells a child that it runs on another version of Node. */
const pretend = (version: string) =>
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;

test("a version of Node that proofd does not run on is refused in a sentence, by a file that parses there", async () => {
  // Node 12 to 18 were tried by hand: they have neither import attributes nor what else these signs stand for.
  assert.doesNotMatch(
    await readFile(MAIN, "utf8"),
    /^(import|export) [^{}]*["']|^await |\?\?|\?\.|\bwith \{|#!.*\n.*#!/m,
  );
  const {packages} = JSON.parse(
    await readFile(new URL("./package-lock.json", import.meta.resolve("#package/package.json")), "utf8"),
  );
  assert.equal(packages[""].engines.node, ">=20.19 <21 || >=22.3");
  const lowest = (path: string) =>
    /(\d+)(?:\.(\d+))?/
      .exec(packages[path].engines.node)
      ?.slice(1)
      .map(number => Number(number ?? 0)) ?? [];
  const [major, minor] = lowest("") as [number, number];
  const later = Object.keys(packages).filter(path => {
    if (packages[path].engines?.node === undefined) return false;
    const [neededMajor, neededMinor] = lowest(path) as [number, number];
    return neededMajor > major || (neededMajor === major && neededMinor > minor);
  });
  assert.deepEqual(later, [], "npm ci would refuse a version that proofd takes");
  const run = async (version: string) =>
    runChild(process.execPath, ["--import", pretend(version), MAIN, "--version"]);
  const versions = ["18.20.8", "20.18.3", "21.7.3", "22.2.0"];
  for (const [at, {code, stderr, stdout}] of (await Promise.all(versions.map(run))).entries()) {
    assert.match(
      stderr,
      /^error: expected Node 20 \(20\.19 or later\), or 22\.3 or later; got \S+ \(.*\)\n$/,
    );
    assert.deepEqual([code, stdout], [2, ""], versions[at]);
  }
  for (const {code, stderr} of await Promise.all(["20.19.0", "22.3.0", "27.0.0"].map(run)))
    assert.equal(code, 0, stderr);
});

test("a host that cannot be resolved, or is not this machine's, is called so", async () => {
  const serve = ["serve", "--db", db, "--port", "0", "--estimate-workers", "0", "--host"];
  await assertAllFail([
    [[...serve, "no.such.host.invalid"], /the host no\.such\.host\.invalid cannot be resolved/],
    [[...serve, "192.0.2.1"], /cannot listen on 192\.0\.2\.1:0: this machine has no such address/],
  ]);
});

test("--chain-id of another chain is refused before the demo is imported", async () => {
  const target = folder.file("demo5");
  await assertAllFail([
    [
      ["serve", "--demo", "--db", target, "--chain-id", "5", "--port", "0", "--estimate-workers", "0"],
      /--demo: block 0: expected chain 5, got chain \d+/,
      2,
    ],
  ]);
  assert.equal(existsSync(target), false);
});

test("a command that fails leaves no store behind, and no folder that it made", async () => {
  const made = folder.file("made");
  const bad = folder.file("bad.ndjson");
  await writeFile(bad, "hello\n");
  await assertAllFail([[["import", ...diffsFlags(join(made, "a", "b"), bad)], /line 1/]]);
  assert.equal(existsSync(made), false);
  const missing = folder.file("nowhere");
  await assertAllFail([[["import", ...diffsFlags(made, missing)], /nowhere/, 2]]);
  assert.equal(existsSync(made), false);
  const other = await OwnService.serve(["--db", db]);
  try {
    const serve = [
      "serve",
      ...diffsFlags(made, "-"),
      "--port",
      String(other.port),
      "--estimate-workers",
      "0",
    ];
    // A store that holds a block stays: the demo was not imported either.
    const demo = ["serve", "--demo", "--db", made, "--port", String(other.port), "--estimate-workers", "0"];
    await assertAllFail([[serve, /the address is in use/]]);
    await assertAllFail([[demo, /the address is in use/]]);
  } finally {
    await other.stop();
  }
  assert.equal(existsSync(made), false);
});

test("a folder that was there stays, and so does a store that was, or that holds a block", async () => {
  const empty = folder.file("empty");
  mkdirSync(empty);
  await chmod(empty, 0o750);
  const good = encodeLines(createLines(0, 1));
  const importText = async (text: string): Promise<CommandEnd> => {
    const path = folder.file("stays.ndjson");
    await writeFile(path, text);
    return runHere(["import", ...diffsFlags(empty, path)]);
  };
  assertFailed(await importText("hello\n"), 1, /line 1/, [empty]);
  assert.deepEqual(readdirSync(empty), []);
  assertFailed(await importText(`${good}hello\n`), 1, /line 3/, [empty]);
  assertFailed(await importText("hello\n"), 1, /line 1/, [empty]);
  assert.match((await importText(good)).stdout, /^imported 0 blocks, 2 already in the store/);
});

test("a pipe or a device in place of a file is refused, and nobody waits for it", {
  skip: process.platform === "win32" && "no pipes there",
}, async () => {
  const pipe = folder.file("pipe");
  execFileSync("mkfifo", [pipe]);
  const pulled = folder.file("pulled");
  mkdirSync(pulled);
  execFileSync("mkfifo", [join(pulled, "manifest.json")]);
  const store = folder.file("piped");
  cpSync(db, store, {recursive: true});
  rmSync(join(store, "CURRENT"));
  execFileSync("mkfifo", [join(store, "CURRENT")]);
  const url = "http://127.0.0.1:1";
  const root = `0x${"11".repeat(32)}`;
  const table: [readonly string[], RegExp][] = [
    [["import", "--db", folder.file("new"), "--pull", pulled], /manifest\.json: expected a file/],
    [["serve", "--db", store, "--port", "0"], /CURRENT: expected a file, got a pipe/],
    [["check", "--db", store], /CURRENT: expected a file, got a pipe/],
  ];
  for (const [file, got] of [
    [pipe, "a pipe"],
    ["/dev/zero", "a device"],
  ] as const) {
    const pull = ["pull", "--url", url, "--block", "1", "--root", root, "--out", folder.file("out")];
    for (const args of [
      ["serve", "--config", file],
      ["serve", "--l2", url, "--l2-header-file", file],
      ["serve", "--fees", file],
      ["serve", "--publish", "nats://127.0.0.1:1", "--nats-creds", file],
      ["load", "--url", url, "--keys", file],
      ["load", "--url", url, "--header-file", file],
      [...pull, "--keys", file],
      ["verify", "--root", root, "--request", "none", "--answer", file],
      ["import", "--db", folder.file("new"), "--genesis", file, "--blocks", join(db, "CURRENT")],
    ])
      table.push([args, new RegExp(`${file}.*expected a file, got ${got}`)]);
  }
  for (const input of ["--diffs", "--trielogs"])
    table.push([
      ["import", "--db", folder.file("new"), input, "/dev/zero"],
      /expected a file or a pipe, got a device/,
    ]);
  const ends = await runAllHere(table.map(([args]) => args));
  for (const [i, [args, message]] of table.entries()) {
    assert.match(ends[i]?.stderr ?? "", message, args.join(" "));
    assert.ok([1, 2].includes(ends[i]?.code ?? 0), args.join(" "));
  }
});
