/** The command line: what is refused and how it is named, exit codes, variables, and the commands around a store. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {before, test} from "node:test";
import {pathToFileURL} from "node:url";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {poseidon2Suite} from "../../../client/hash/hashSuites.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {
  ACCOUNTS,
  createLines,
  diffsFlags,
  hashOfBlock,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {runAllHere, runHere} from "../../support/processes/ownCommand.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";

const folder = new WorkFolder();
let db: string;

before(async () => {
  db = await folder.importChain("db", 5, 3);
});

async function assertAllEnd(
  code: number,
  table: readonly (readonly [args: readonly string[], message: RegExp])[],
): Promise<void> {
  const ends = await runAllHere(table.map(([args]) => args));
  for (const [i, [args, message]] of table.entries()) {
    assert.match(ends[i]?.stderr ?? "", message, args.join(" "));
    assert.deepEqual([ends[i]?.code, ends[i]?.stdout], [code, ""], args.join(" "));
  }
}

test("--help and --version are answered on standard output", async () => {
  const help = await runHere(["--help"]);
  assert.equal(help.code, 0);
  for (const command of ["import", "serve", "finalize", "check", "rollback", "snapshot", "load"])
    assert.match(help.stdout, new RegExp(`\\b${command}\\b`));
  const version = await runHere(["--version"]);
  assert.equal(version.code, 0);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  const serve = await runHere(["serve", "--help"]);
  assert.equal(serve.code, 0);
  assert.match(serve.stdout, /PROOFD_MAX_QUEUE/);
  // In groups, each of which begins with a heading, and with examples at the end.
  const begun = [...serve.stdout.matchAll(/^(\w.*):\n {2}(--[a-z0-9-]+|-h|proofd)/gm)].map(
    ([, , first]) => first,
  );
  assert.deepEqual(begun, [
    "--db",
    "--host",
    "--demo",
    "--publish",
    "--l1",
    "--cors",
    "--max-queue",
    "--gateway",
    "--estimate-workers",
    "--log-level",
    "-h",
    "proofd",
  ]);
});

test("an unknown flag, command or value is named, and the exit code is 2", async () => {
  const table: [readonly string[], RegExp][] = [
    [[], /Usage: proofd/],
    [["serve", "--datadir=x"], /unknown option '--datadir=\*\*\*'\n\(--help/],
    [["serve", "--prt", "1"], /unknown option '--prt'\n\(Did you mean --port\?\)/],
    [["frobnicate"], /unknown command 'frobnicate'/],
    [["serve", "extra"], /too many arguments/],
    [
      ["serve", "--port", "65536"],
      /'--port <port>' argument '65536' is invalid. Expected a whole number from 0 to 65535/,
    ],
    [["serve", "--port"], /'--port <port>' argument missing/],
    [["serve", "--workers", "0"], /'--workers <count>' argument '0' is invalid/],
    [["serve", "--max-queue", "1e3"], /'--max-queue <cost>' argument '1e3' is invalid/],
    [["serve", "--log-level", "loud"], /argument 'loud' is invalid. Allowed choices are/],
    [["serve", "--chain-id", "mainnet"], /argument 'mainnet' is invalid. Expected a chain id/],
    [["serve", "--cors", "app.example.org"], /argument 'app.example.org' is invalid. Expected an origin/],
    [["serve", "--cors", "https://app.example.org/"], /Expected an origin as browsers send it/],
    [["serve", "--cors", "*", "--cors", "https://a.org:443"], /argument 'https:\/\/a.org:443' is invalid/],
    [["serve", "--cors", "null"], /argument 'null' is invalid/],
    [["import"], /give --genesis and --blocks, or --diffs/],
    [["import", "--blocks", "a"], /--blocks needs --genesis/],
    [["import", "--genesis", "a"], /--genesis needs --blocks, --trielogs, --pull or --state/],
    [["import", "--trielogs", "a", "--blocks", "b"], /--blocks has no effect with --trielogs/],
    [["import", "--trielogs", "a", "--diffs", "b"], /--diffs has no effect with --trielogs/],
    [["import", "--diffs", "a", "--blocks", "b"], /--blocks has no effect with --diffs/],
    [["import", "--diffs", "a", "--genesis", "b"], /--genesis has no effect with --diffs/],
    [["import", "--diffs", "a", "--finalized", "newest"], /argument 'newest' is invalid/],
    [["serve", "--finalized", "6"], /--finalized has no effect without --diffs, --l2, or --feed/],
    [["serve", "--max-finality-lag", "0"], /'--max-finality-lag <seconds>' argument '0' is invalid/],
    [
      ["import", "--suite", "md5", "--diffs", "a"],
      /'--suite <name>' argument 'md5' is invalid. Allowed choices are sha256, poseidon2, keccak/,
    ],
    [["serve", "--suite", "POSEIDON2"], /argument 'POSEIDON2' is invalid/],
    [["serve", "--suite", ""], /argument '' is invalid/],
    [["check", "--block", "0xzz"], /argument '0xzz' is invalid. Expected a block number, decimal or 0x hex/],
    [["check", "--block", "-1"], /'--block <block>'/],
    [["finalize"], /required option '--to <block>' not specified/],
    [["finalize", "--to", "last"], /argument 'last' is invalid. Expected a block number/],
    [["rollback"], /required option '--to <block>' not specified/],
  ];
  await assertAllEnd(2, table);
});

test("a bad variable is named", async () => {
  for (const [variables, message] of [
    [{PROOFD_PORT: "x"}, /'--port <port>' value 'x' from env 'PROOFD_PORT' is invalid/],
    [{PROOFD_DEMO: "maybe"}, /PROOFD_DEMO: expected 1, true, 0 or false, got 'maybe'/],
  ] as const) {
    const end = await runHere(["serve"], variables);
    assert.deepEqual([end.code, end.stdout], [2, ""]);
    assert.match(end.stderr, message);
  }
});

test("a store that is not there, or of another chain, is an error", async () => {
  const missing = folder.file("missing");
  await assertAllEnd(2, [
    [["serve", "--db", missing], /missing.*`proofd import`.*--demo, --diffs, --l2 or --feed/],
    [["check", "--db", missing], /missing/],
    [["rollback", "--db", missing, "--to", "0"], /missing/],
    [["serve", "--db", db, "--chain-id", "5"], /expected chain 5, got chain \d+.*FORMAT_MISMATCH/],
  ]);
});

test("flags of --l2 that nothing reads are usage errors", async () => {
  const url = "http://127.0.0.1:1";
  const tag = ["serve", "--allow-unverified", "--diffs", "-", "--finality", "tag", "--l2"];
  const announced = /--l2: expected http and https URLs, got a ws or wss URL, which has no effect/;
  await assertAllEnd(2, [
    [["import", "--l2", url, "--head", hashOfBlock(1)], /--head has no effect with --l2/],
    [["serve", "--l2", url, "--demo"], /--demo has no effect with --l2/],
    [["serve", "--l2", url, "--diffs", "-"], /--diffs has no effect with --l2/],
    [["serve", "--genesis", "a"], /--genesis has no effect without --l2/],
    [[...tag, url, "--genesis", "a"], /--genesis has no effect with --diffs/],
    [[...tag, url, "--source", "trace"], /--source has no effect with --diffs/],
    [[...tag, `${url},ws://127.0.0.1:1`], announced],
    [["serve", "--allow-unverified"], /--allow-unverified has no effect without --diffs, --l2, or --feed/],
  ]);
});

/** An error that nothing catches, when the process is told to. */
const FAULT = `import {isMainThread} from "node:worker_threads";
if (isMainThread) process.on("SIGUSR2", () => { Promise.reject(new Error("injected")); });
`;

test("serve takes variables and says one JSON line, its store and address are in use, and an error that nothing catches ends it", async () => {
  const module = folder.file("fault.mjs");
  await writeFile(module, FAULT);
  const env = {
    PROOFD_DB: db,
    PROOFD_DEMO: "0",
    PROOFD_LOG_FORMAT: "names",
    NODE_OPTIONS: `--import=${pathToFileURL(module).href}`,
  };
  const daemon = await startDaemon(["--workers", "1"], {env});
  const other = await folder.importChain("other", 0, 0);
  const port = String(daemon.port);
  const {pid} = daemon.child;
  const how = process.platform === "linux" ? "holds its lock" : "wrote its control\\.json";
  const inUse = new RegExp(
    `in use by another process \\(STORE_IN_USE\\): process ${pid} ${how}.*Stop that process, or name another folder with --db$`,
    "m",
  );
  await assertAllEnd(1, [
    [
      ["serve", "--db", other, "--port", port, "--estimate-workers", "0"],
      /cannot listen on 127\.0\.0\.1:.*in use/,
    ],
    [["serve", "--db", db, "--port", "0"], inUse],
    [["import", ...diffsFlags(db, folder.file("db.ndjson"))], inUse],
    [["rollback", "--db", db, "--to", "1", "--finalized"], inUse],
  ]);
  const {code, stdout, stderr} = await daemon.stop("SIGUSR2");
  assert.match(stdout, /^\{"msg":"listening","url":"http:\/\/127\.0\.0\.1:\d+".*\}\n$/);
  assert.equal(code, 1, stderr);
  const line = JSON.parse(stderr.trimEnd().split("\n").at(-1) as string);
  assert.deepEqual(
    [line.level, line.origin, line.err.message, line.msg],
    ["fatal", "unhandledRejection", "injected", "an error was not caught: the process ends"],
  );
  const {level, time} = JSON.parse(stdout);
  assert.equal(level, "info");
  for (const text of [time, line.time]) assert.equal(new Date(text).toISOString(), text);
  assert.match(line.err.stack, /fault\.mjs:2/);
});

test("a new store gets the suite that --suite names, keeps it, and is refused where another one is asked for", async () => {
  const lines = folder.file("suite.ndjson");
  await writeFile(lines, encodeLines(createLines(0, 2)));
  const importInto = (target: string, ...more: string[]) =>
    runHere(["import", ...diffsFlags(target, lines), "--finalized", "last", ...more]);
  const target = folder.file("poseidon2");
  assert.equal((await importInto(target, "--suite", "poseidon2")).code, 0);
  // It needs no flag from then on.
  const again = await importInto(target);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /3 already in the store/);
  const refusal = /expected suite sha256, got poseidon2 \(FORMAT_MISMATCH\)/;
  await assertAllEnd(2, [
    [["import", ...diffsFlags(target, lines), "--finalized", "last", "--suite", "sha256"], refusal],
    [["serve", "--db", target, "--suite", "sha256", "--port", "0"], refusal],
    [
      ["serve", "--db", db, "--suite", "poseidon2", "--port", "0"],
      /expected suite poseidon2, got sha256 \(FORMAT_MISMATCH\)/,
    ],
  ]);
  const check = await runHere(["check", "--db", target]);
  assert.equal(check.code, 0);
  assert.match(check.stdout, /nothing wrong/);
  const daemon = await OwnService.serve(["--db", target, "--suite", "poseidon2"]);
  const {result} = await daemon.call("chain_getCoverage");
  assert.equal(result.suite, "poseidon2");
  const account = ACCOUNTS[0] as string;
  const state = await daemon.call("chain_getStateRoot", ["0x2"]);
  const proof = await daemon.call("chain_getProof", [account, ["0x1"], "0x2"]);
  const root = decodeHex(state.result.stateRoot);
  const slot = `0x${"1".padStart(64, "0")}`;
  assert.ok(verifyProof(poseidon2Suite, root, account, [slot], proof.result).account);
  await daemon.stop();
});

test("check finds nothing wrong with a sound store", async () => {
  const mores = [[], ["--block", "0x2"], ["--block", "1", "--sample", "5"], ["--sample", "3"]];
  const ends = await runAllHere(mores.map(more => ["check", "--db", db, ...more]));
  for (const [i, more] of mores.entries()) {
    assert.equal(ends[i]?.code, 0, more.join(" "));
    assert.match(ends[i]?.stdout ?? "", /^checked .* nothing wrong\n$/);
  }
});

test("serve --demo refuses a store of another chain", () =>
  assertAllEnd(2, [[["serve", "--db", db, "--demo", "--port", "0", "--estimate-workers", "0"], /--demo: /]]));
