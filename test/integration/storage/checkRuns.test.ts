/** A check of a whole store while it runs: what it leaves alone, beside what it runs, and how it ends. */
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {readdir, stat} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {startCheck} from "../../../workers/threads/runningCheck.ts";
import {addressAt} from "../../support/chains/longChain.ts";
import {readReadiness, unverified} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Daemon} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {hashFiles} from "../../support/stores/fileTree.ts";
import {TableStore} from "../../support/stores/tableStore.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.js", import.meta.url));

let store: TableStore;
before(async () => {
  store = await TableStore.create();
});

test("check writes nothing into the store's folder, which may be mounted read-only", async t => {
  const directory = await store.copy();
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

test("a check that is stopped says so and where, and its exit code is the signal's", async () => {
  const daemon = new Daemon(["check", "--db", store.whole, "--sample", String(Number.MAX_SAFE_INTEGER)]);
  await daemon.waitForStderr(/check: \d+ pages, block 3/);
  const {code, stdout} = await daemon.stop("SIGTERM");
  assert.equal(code, 143);
  assert.match(
    stdout,
    /^stopped by SIGTERM at block 3(, account tree.*)?, before the end; checked .*, \d+ pages, .*: nothing wrong\n$/,
  );
  const running = startCheck({directory: store.whole, extent: "tables"}, () => {});
  running.stop();
  assert.equal((await running.outcome).stoppedAt, store.file);
});

test("serve --check-store finds a damaged table while it answers, says which, shows progress and is no longer ready", async t => {
  const directory = await store.copy();
  const at = store.byteOfAPage(directory);
  await store.flip(directory, at, 0);
  const size = (await stat(join(directory, store.file))).size;
  const daemon = await OwnService.serve(["--db", directory, "--check-store"]);
  t.after(() => daemon.stop());
  await daemon.waitForStderr(/the tables are verified/);
  assert.match(daemon.stderr, new RegExp(`"where":"${store.file}, byte \\d+","what":"data block: checksum`));
  assert.match(daemon.stderr, /"tables":1,"bytes":\d+,"msg":"verifying the tables"/);
  assert.equal(await daemon.readMetric("proofd_verify_findings_total"), 1);
  assert.equal(await daemon.readMetric('proofd_verify_bytes{which="all"}'), size);
  assert.equal(await daemon.readMetric('proofd_verify_bytes{which="done"}'), size);
  assert.deepEqual(await readReadiness(daemon), [
    503,
    `a table of the store is damaged\n${unverified(0, 3)}`,
  ]);
  const {result} = await daemon.call("chain_getProof", [addressAt(1), [], "0x3"]);
  assert.ok(result.accountProof.leafIndex > 1);
});

test("serve --check-store of a sound store stays ready, and stops at once with the service", async () => {
  const daemon = await OwnService.serve(["--db", store.whole, "--check-store"]);
  await daemon.waitForStderr(/"findings":0,"msg":"the tables are verified"/);
  assert.equal((await daemon.get("/readyz")).status, 200);
  await daemon.stop();
});
