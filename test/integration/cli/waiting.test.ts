/** Calls that wait for finality while `proofd finalize` moves it, the connections stand idle, and the service stops. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForMetric} from "../../support/http/followingDaemon.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {FINALIZED, LATEST, waitCall} from "../../support/http/waitingService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";

/** uWebSockets.js closes connections on which nothing is asked after this time. */
const IDLE_MS = 10_000;

let folder: WorkFolder;
let db: string;
let daemon: Daemon;

before(async () => {
  folder = await WorkFolder.create();
  db = await folder.importChain("db", LATEST, FINALIZED);
  daemon = await startDaemon([
    "--db",
    db,
    "--workers",
    "1",
    "--request-timeout",
    "5000",
    "--max-waiting",
    "3",
  ]);
});

after(async () => {
  daemon.child.kill("SIGKILL");
  await folder.remove();
});

async function send(call: unknown): Promise<RawConnection> {
  const connection = await RawConnection.open(daemon.port);
  await connection.write(encodePost(JSON.stringify(call)));
  return connection;
}

test("a call may wait longer than a connection may be idle and a request may take", async () => {
  const {error} = await daemon.call("chain_waitForProof", [ACCOUNTS[0], [], "latest", IDLE_MS + 2000]);
  assert.equal(error.code, -32002);
  assert.deepEqual(error.data, {finalized: `0x${FINALIZED}`});
});

test("proofd finalize lets waiting calls be answered, and SIGTERM turns the others away at once", async () => {
  const ready = await send(waitCall(1, {block: `0x${FINALIZED + 1}`}));
  const never = await send(waitCall(1));
  const other = await send([waitCall(1, {block: `0x${LATEST + 1}`})]);
  await waitForMetric(daemon, "proofd_waiting_calls 3");
  assert.deepEqual((await daemon.send(waitCall(1))).error.data, {limit: 3, got: 4});
  const finished = await runProofd(["finalize", "--db", db, "--to", String(FINALIZED + 1)]);
  assert.equal(finished.code, 0, finished.stderr);
  const {body} = await ready.readAnswer();
  assert.deepEqual(JSON.parse(body), await daemon.send(proofCall(1, ACCOUNTS[0], [], `0x${FINALIZED + 1}`)));
  const {code, stderr} = await daemon.stop();
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /requests are still unfinished/);
  for (const connection of [never, other]) assert.equal((await connection.readAnswer()).status, 503);
});
