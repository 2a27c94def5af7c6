/** A proof thread that dies takes down its own calls and nothing else. */
import assert from "node:assert/strict";
import {rename} from "node:fs/promises";
import {after, before, test} from "node:test";
import {pino} from "pino";
import {createFront, type Front} from "../../../server/front.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {LaneId} from "../../../server/rpc/requestCalls.ts";
import {Engine} from "../../../workers/engine.ts";
import {KEPT_MEMORIES} from "../../../workers/messages/answerMemory.ts";
import type {ProofThreads} from "../../../workers/threads/proofThreads.ts";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {killThread} from "../../support/threads/killThread.ts";
import {waitUntil} from "../../support/wait.ts";

let folder: WorkFolder;
let engine: Engine;
let front: Front;
let url: string;
const logged: string[] = [];

before(async () => {
  folder = await WorkFolder.create();
  const directory = await folder.importChain("db", 1, 1);
  const log = pino({level: "info"}, {write: line => logged.push(line)});
  const trouble = new TroubleLog(log);
  const onWorkerExit = (error: Error) => trouble.reportWorkerExit(error);
  engine = await Engine.open({
    directory,
    workers: 2,
    cacheBytes: 1 << 22,
    createIfMissing: false,
    onWorkerExit,
  });
  const options = {host: "127.0.0.1", port: 0, limits: DEFAULT_LIMITS};
  front = createFront(options, engine, {kind: "none"}, trouble, log);
  url = `http://127.0.0.1:${await front.http.listen()}`;
});

after(async () => {
  front.http.close();
  front.dispatcher.close();
  await engine.close();
  await folder.remove();
});

async function killWorkers(count: number): Promise<void> {
  const {proofs} = engine as unknown as {proofs: ProofThreads};
  await Promise.all(proofs.threads.slice(0, count).map(killThread));
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
async function send(body: unknown): Promise<any> {
  const headers = {"content-type": "application/json"};
  return (await fetch(url, {method: "POST", headers, body: JSON.stringify(body)})).json();
}

function proofCall(id: number, keyCount: number) {
  const keys = Array.from({length: keyCount}, (_, at) => `0x${at.toString(16)}`);
  return {jsonrpc: "2.0", id, method: "chain_getProof", params: [ACCOUNTS[0], keys, "latest"]};
}

test("a dying worker fails its own calls with -32603 and a request id, and is replaced", async () => {
  await send([proofCall(0, 60), proofCall(1, 60), proofCall(2, 60)]);
  const count = 40;
  const batch = Array.from({length: count}, (_, id) => proofCall(id, 60));
  const answering = send(batch);
  await waitUntil("a queued proof", () => front.dispatcher.queuedCost(LaneId.PROOF) > 0);
  await killWorkers(1);
  const answers = await answering;
  assert.deepEqual(
    answers.map((answer: {id: number}) => answer.id),
    batch.map(call => call.id),
  );
  const failed = answers.filter((answer: {error?: unknown}) => answer.error !== undefined);
  assert.ok(failed.length >= 1 && failed.length <= 4, `${failed.length} calls failed`);
  for (const {error} of failed) {
    assert.equal(error.code, -32603);
    assert.deepEqual(Object.keys(error.data), ["requestId"]);
    assert.ok(logged.some(line => line.includes(error.data.requestId)));
    assert.doesNotMatch(error.message, /worker|thread|\.ts|\.js/);
  }
  assert.match((await front.metrics.read()).text, /\nproofd_worker_exits_total [1-9]/);
  for (let round = 0; round < 2; round++) {
    const again = await send(batch);
    assert.ok(again.every((answer: {result?: unknown}) => answer.result !== undefined));
  }
  assert.equal(front.dispatcher.queuedCost(LaneId.PROOF), 0);
  assert.equal(engine.memories.spares.length, 2 + 1 + KEPT_MEMORIES, "no memory is lost");
});

test("while no proof thread can start, proofs fail at once, the service is not ready and /metrics tells; then all is well again", async () => {
  const {proofs} = engine as unknown as {proofs: ProofThreads};
  const directory = folder.file("db");
  await rename(directory, `${directory}.gone`);
  // A thread opens the store that this process has open by its path.
  await killWorkers(2);
  await waitUntil("both are down", () => proofs.threads.every(({state}) => state === "down"));
  const {error} = await send(proofCall(1, 1));
  assert.equal(error.code, -32603);
  assert.equal(front.dispatcher.queuedCost(LaneId.PROOF), 0);
  const refused = await fetch(`${url}/readyz`);
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /no proof thread can start: /);
  assert.match((await front.metrics.read()).text, /\nproofd_threads\{kind="proof",state="down"\} 2\n/);
  await rename(`${directory}.gone`, directory);
  await waitUntil("both are up", () => proofs.threads.every(({state}) => state === "up"));
  assert.notEqual((await send(proofCall(2, 1))).result, undefined);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
});
