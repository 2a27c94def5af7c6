/** Which blocks are finalized: those that a line, a flag or `proofd finalize` names, also while another process has the store. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {readFile, stat, writeFile} from "node:fs/promises";
import {createServer} from "node:http";
import type {AddressInfo} from "node:net";
import {join} from "node:path";
import {test} from "node:test";
import {sendCommand} from "../../../server/lifecycle/control/controlClient.ts";
import {Engine} from "../../../workers/engine.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {
  ACCOUNTS,
  createLine,
  createLines,
  diffsFlags,
  hashOfBlock,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import type {AskedService} from "../../support/http/askedService.ts";
import {waitForCoverage} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {importLines, importSource} from "../../support/stores/importedStore.ts";
import {once, waitUntil} from "../../support/wait.ts";

const folder = new WorkFolder();

/** Blocks 0 to `last`, none finalized. @returns the store's folder */
async function importUnfinalized(name: string, last: number): Promise<string> {
  const db = folder.file(name);
  await importLines(db, createLines(0, last));
  return db;
}

/** In this process if the store is closed, or open in another process. */
function finalize(db: string, to: number): Promise<CommandEnd> {
  return runHere(["finalize", "--db", db, "--to", String(to)]);
}

/** What `proofd finalize` does when another process has the store open, for a service of this process. */
async function mustOrder(db: string, to: number, before: number | undefined, after: number): Promise<void> {
  const answer = await sendCommand(db, {kind: "finalize", to});
  assert.deepEqual(answer.ok && [answer.before.finalized, answer.after.finalized], [before, after]);
}

async function mustFinalize(db: string, to: number, stdout: string): Promise<void> {
  const finished = await finalize(db, to);
  assert.equal(finished.stdout, stdout, finished.stderr);
  assert.equal(finished.code, 0);
}

async function assertRefused(db: string, to: number, message: RegExp): Promise<void> {
  const {code, stdout, stderr} = await finalize(db, to);
  assert.match(stderr, message);
  assert.equal(stdout, "");
  assert.equal(code, 1);
}

async function readCoverage(
  daemon: AskedService,
): Promise<{finalized: string | null; latest: string | null}> {
  const {finalized, latest} = (await daemon.call("chain_getCoverage")).result;
  return {finalized, latest};
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}

test("import finalizes what the lines say, and nothing where they and the flags say nothing", async () => {
  for (const [name, lines, end] of [
    ["silent", createLines(0, 3), /the store has blocks 0 to 3, none is finalized/],
    ["said", [...createLines(0, 2), createLine(3, 1)], /the store has blocks 0 to 3, finalized up to 1/],
  ] as const) {
    const path = folder.file(`${name}.ndjson`);
    await writeFile(path, encodeLines(lines));
    assert.match((await runHere(["import", ...diffsFlags(folder.file(name), path)])).stdout, end);
  }
});

test("finalize marks blocks of a store, never takes any back, and refuses blocks that are not stored", async () => {
  const db = await importUnfinalized("alone", 5);
  await assertRefused(
    db,
    6,
    /cannot finalize up to block 6: block 6 is not in the store: the newest block is 5/,
  );
  await mustFinalize(db, 3, "blocks up to 3 are finalized; before: none\n");
  await mustFinalize(db, 2, "nothing changed: blocks up to 3 were finalized already\n");
  await mustFinalize(db, 5, "blocks up to 5 are finalized; before: 3\n");
  const nowhere = await finalize(folder.file("nothing"), 1);
  assert.match(nowhere.stderr, /nothing holds no store/);
  assert.equal(nowhere.code, 2);
});

test("finalize reaches a server, which proves those blocks at once; others need its token, and a killed one misleads nobody", async () => {
  const db = await importUnfinalized("served", 5);
  const daemon = await startDaemon(["--db", db]);
  const path = join(db, "control.json");
  try {
    if (process.platform !== "win32") assert.equal((await stat(path)).mode & 0o777, 0o600);
    const {port, token} = JSON.parse(await readFile(path, "utf8"));
    const order = (authorization: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}/finalize`, {
        method: "POST",
        headers: {authorization},
        body: '{"to":1}',
        ...init,
      });
    assert.equal((await order("")).status, 401);
    assert.equal((await order(`Bearer ${"0".repeat(64)}`)).status, 401);
    assert.equal((await order(`Bearer ${token}`, {body: '{"to":-1}'})).status, 400);
    assert.equal((await order(`Bearer ${token}`, {body: '{"to":1e300}'})).status, 400);
    assert.equal((await order(`Bearer ${token}`, {body: "{"})).status, 400);
    assert.equal((await order(`Bearer ${token}`, {method: "PUT"})).status, 404);
    const long = `{"to":1,"x":"${"x".repeat(2000)}"}`;
    assert.equal((await order(`Bearer ${token}`, {body: long})).status, 400);
    assert.equal((await readCoverage(daemon)).finalized, null);
    const getProof = () => daemon.call("chain_getProof", [ACCOUNTS[0], [], "0x4"]);
    assert.equal((await getProof()).error.code, -32002);
    await mustFinalize(db, 4, "blocks up to 4 are finalized; before: none\n");
    assert.ok((await getProof()).result !== undefined);
    assert.deepEqual(await readCoverage(daemon), {finalized: "0x4", latest: "0x5"});
    await mustFinalize(db, 1, "nothing changed: blocks up to 4 were finalized already\n");
    await assertRefused(db, 9, /block 9 is not in the store: the newest block is 5/);
    assert.deepEqual(await readCoverage(daemon), {finalized: "0x4", latest: "0x5"});
    assert.match(daemon.stderr, /"msg":"proofd finalize"/);
  } finally {
    await daemon.stop("SIGKILL");
  }
  // The control.json that it has left misleads nobody.
  const left = JSON.parse(await readFile(path, "utf8"));
  await mustFinalize(db, 4, "nothing changed: blocks up to 4 were finalized already\n");
  // Its port has gone to another program, and the store is open in a process that takes no orders.
  const stranger = createServer((_request, response) => response.writeHead(404).end("no"));
  const engine = await Engine.open({directory: db, workers: 0, cacheBytes: 1 << 20, createIfMissing: false});
  try {
    const order = {kind: "finalize", to: 5} as const;
    await assert.rejects(sendCommand(db, order), /nothing answers on the port of its control.json/);
    stranger.listen(0, "127.0.0.1");
    await once(stranger, "listening");
    await writeFile(path, JSON.stringify({...left, port: (stranger.address() as AddressInfo).port}));
    await assert.rejects(sendCommand(db, order), /another program listens on the port/);
    await writeFile(path, "{");
    const {code, stderr} = await runProofd(["finalize", "--db", db, "--to", "5"]);
    assert.match(stderr, /accepts no commands \(it has no control.json\)/);
    assert.equal(code, 1);
  } finally {
    await engine.close();
    stranger.close();
    stranger.closeAllConnections();
  }
  const next = await OwnService.serve(["--db", db]);
  await mustOrder(db, 5, 4, 5);
  await next.stop();
  assert.equal(existsSync(path), false);
});

test("finalize reaches the import beside a service, and lines lower nothing and raise what they name", async t => {
  const db = folder.file("beside");
  const daemon = await OwnService.fed(db);
  t.after(() => daemon.stop());
  const refused = await sendCommand(db, {kind: "finalize", to: 0});
  assert.match(refused.ok ? "" : refused.message, /block 0 is not in the store: the store is empty/);
  daemon.input.write(encodeLines(createLines(0, 3)));
  await waitForCoverage(daemon, "latest", "0x3");
  // Neither a line nor a flag says anything.
  assert.equal((await readCoverage(daemon)).finalized, null);
  await mustOrder(db, 2, undefined, 2);
  assert.deepEqual(await readCoverage(daemon), {finalized: "0x2", latest: "0x3"});
  // Orders and blocks at the same time: each is taken between two blocks.
  const orders = Promise.all([3, 1, 2].map(to => sendCommand(db, {kind: "finalize", to})));
  let isOver = false;
  void orders.then(() => {
    isOver = true;
  });
  let newest = 3;
  const write = async (finalized?: number): Promise<void> => {
    daemon.input.write(encodeLines([createLine(++newest, finalized)]));
    await waitForCoverage(daemon, "latest", quantity(newest));
  };
  while (!isOver) await write();
  for (const {ok} of await orders) assert.ok(ok);
  assert.equal((await readCoverage(daemon)).finalized, "0x3");
  await write(1);
  assert.equal((await readCoverage(daemon)).finalized, "0x3");
  const raised = newest;
  await write(raised);
  assert.equal((await readCoverage(daemon)).finalized, quantity(raised));
  // So does a line that is held already, also when nothing follows.
  daemon.input.write(encodeLines([createLine(newest, newest)]));
  await waitForCoverage(daemon, "finalized", quantity(newest));
  await write();
  // The import has ended: the server writes it itself.
  daemon.input.end();
  await daemon.waitForStderr(/the import has ended/);
  await mustOrder(db, newest, newest - 1, newest);
  assert.equal((await readCoverage(daemon)).finalized, quantity(newest));
});

test("finalize reaches `proofd import`, which a signal ends with its exit code, without a word of the half line", async () => {
  const db = await importUnfinalized("imported", 2);
  const daemon = new Daemon(["import", ...diffsFlags(db, "-")]);
  try {
    await waitUntil("control.json", () => existsSync(join(db, "control.json")));
    await mustFinalize(db, 1, "blocks up to 1 are finalized; before: none\n");
    await daemon.waitForStderr(/proofd finalize: blocks up to 1 are finalized/);
    daemon.child.stdin.write(`${encodeLines(createLines(0, 3))}{"number":"0x4",`);
    await waitUntil("block 3", async () => (await sendCommand(db, {kind: "finalize", to: 3})).ok);
  } finally {
    daemon.child.kill("SIGINT");
  }
  const {code, stdout, stderr} = await daemon.finished;
  assert.equal(code, 130, stderr);
  assert.match(
    stdout,
    /^imported 1 block, 3 already in the store, stopped before the end; .* finalized up to 3; /,
  );
  assert.doesNotMatch(stderr, /error|truncated/);
});

test("an import finalizes what its source reached, and nothing if its source is refused", async () => {
  const directory = await importUnfinalized("reached", 5);
  const none = {earliest: 0, finalized: undefined, latest: 5};
  const importInto = async (name: string, lines: readonly DifferenceLine[], finalized: number | "last") => {
    const path = folder.file(name);
    if (lines.length > 0) await writeFile(path, encodeLines(lines));
    return importSource(directory, {kind: "diffs", path}, {finalized});
  };
  const missing = await importInto("missing.ndjson", [], "last");
  assert.deepEqual([missing.ok, missing.head], [false, none]);
  const other = [{number: "0x0", hash: hashOfBlock(99), accounts: {}}];
  const conflict = await importInto("conflict.ndjson", other, 4);
  assert.deepEqual([conflict.ok, conflict.head], [false, none]);
  const two = await importInto("two.ndjson", createLines(0, 1), "last");
  assert.deepEqual([two.ok, two.head], [true, {...none, finalized: 1}]);
});
