/** Imports that are stopped, fail or repeat themselves: what they leave, and that they end. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {existsSync} from "node:fs";
import {appendFile, mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {Engine} from "../../../workers/engine.ts";
import type {ImportJob} from "../../../workers/messages/importJob.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {blockHash, longChain} from "../../support/chains/longChain.ts";
import {waitForHead, waitForMetric} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Daemon, startDaemon} from "../../support/processes/daemon.ts";
import {waitUntil} from "../../support/wait.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-stopping-"));
});
after(async () => {
  await rm(folder, {recursive: true});
});

function open(name: string): Promise<Engine> {
  const directory = join(folder, name);
  return Engine.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
}

async function writeLines(name: string, text: string): Promise<ImportJob["source"]> {
  const path = join(folder, name);
  await writeFile(path, text);
  return {kind: "diffs", path};
}

test("a service that imports from a silent pipe ends when it is told to", async () => {
  const daemon = await startDaemon(["--db", join(folder, "silent"), "--allow-unverified", "--diffs", "-"]);
  assert.deepEqual([(await daemon.stop()).code, daemon.stdout.split("\n").length], [0, 2]);
});

test("an import from a silent pipe ends with the signal's exit code and no complaint about its half line", async () => {
  const db = join(folder, "import");
  const daemon = new Daemon(["import", "--db", db, "--allow-unverified", "--diffs", "-"]);
  daemon.child.stdin.write(`${encodeLines(longChain(2, 3))}{"number":"0x2",`);
  await waitUntil("a store", () => existsSync(join(db, "CURRENT")));
  const {code, stdout} = await daemon.stop();
  assert.equal(code, 143);
  assert.match(stdout, /^(imported \d blocks, stopped before the end; .*\n)?$/);
});

test("two services cannot share a port", async () => {
  const first = await OwnService.fed(join(folder, "port-1"));
  const args = ["--allow-unverified", "--diffs", join(folder, "port-1.fifo"), "--port", String(first.port)];
  await assert.rejects(
    OwnService.serve(["--db", join(folder, "port-2"), ...args]),
    /cannot listen on 127\.0\.0\.1:\d+: the address is in use/,
  );
  await first.stop();
});

test("a service waits for the writer of a named pipe, and ends", async () => {
  const path = join(folder, "blocks.fifo");
  execFileSync("mkfifo", [path]);
  const daemon = await OwnService.serve([
    "--db",
    join(folder, "fifo"),
    "--allow-unverified",
    "--diffs",
    path,
  ]);
  await appendFile(path, encodeLines(longChain(2, 3)));
  await waitForHead(daemon, 1);
  await daemon.stop();
});

test("an import finalizes what its source reached, and nothing if its source is refused", async () => {
  const engine = await open("finalized");
  const source = await writeLines("six.ndjson", encodeLines(longChain(6, 3)));
  await engine.startImport({source, allowUnverified: true}, () => {}).outcome;
  const none = {earliest: 0, finalized: undefined, latest: 5};
  assert.deepEqual(engine.chain.head(), none);
  const missing = {kind: "diffs", path: join(folder, "missing.ndjson")} as const;
  assert.equal(
    (await engine.startImport({source: missing, allowUnverified: true, finalized: "last"}, () => {}).outcome)
      .ok,
    false,
  );
  assert.deepEqual(engine.chain.head(), none);
  const other = [{number: "0x0", hash: blockHash(99), accounts: {}}];
  const conflict = await writeLines("conflict.ndjson", encodeLines(other));
  assert.equal(
    (await engine.startImport({source: conflict, allowUnverified: true, finalized: 4}, () => {}).outcome).ok,
    false,
  );
  assert.deepEqual(engine.chain.head(), none);
  const two = await writeLines("two.ndjson", encodeLines(longChain(2, 3)));
  assert.equal(
    (await engine.startImport({source: two, allowUnverified: true, finalized: "last"}, () => {}).outcome).ok,
    true,
  );
  assert.deepEqual(engine.chain.head(), {...none, finalized: 1});
  await engine.close();
});

test("a line that is held already still says what is finalized, also when nothing follows", async () => {
  const daemon = await OwnService.fed(join(folder, "repeated"));
  const [first, second] = longChain(2, 3);
  assert.ok(first !== undefined && second !== undefined);
  daemon.input.write(encodeLines([first, second]));
  await waitForHead(daemon, 1);
  assert.equal((await daemon.call("chain_getCoverage")).result.finalized, null);
  daemon.input.write(encodeLines([{...second, finalized: "0x1"}]));
  await waitForMetric(daemon, 'proofd_head_block{which="finalized"} 1');
  await daemon.stop();
});
