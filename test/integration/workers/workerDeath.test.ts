/** A thread that dies takes down its own calls and nothing else. */
import assert from "node:assert/strict";
import {rename} from "node:fs/promises";
import {after, before, test} from "node:test";
import {KEPT_MEMORIES} from "../../../workers/messages/answerMemory.ts";
import type {JobThreads} from "../../../workers/threads/jobThreads.ts";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {killThread} from "../../support/threads/killThread.ts";
import {waitUntil} from "../../support/wait.ts";

/** Two for each of two proof threads, one for an estimate thread and for an answer that is sent, and those of slow readers. */
const MEMORIES = 4 + 1 + 1 + KEPT_MEMORIES;
const QUEUED = 'proofd_queued_cost{lane="proof"}';

const folder = new WorkFolder();
let service: OwnService;
let threads: JobThreads["threads"];
let estimating: JobThreads["threads"];

before(async () => {
  const flags = ["--db", await folder.importChain("db", 1, 1), "--metrics-port", "0", "--hardfork", "prague"];
  // On a busy machine, another thread may take longer to start than a request may by default.
  service = await OwnService.serve([...flags, "--workers", "2", "--estimate-workers", "1"], {
    estimates: true,
    limits: {timeoutMs: 3_600_000},
  });
  const engine = service.engine as unknown as {proofs: JobThreads; estimates: {first: JobThreads}};
  ({threads} = engine.proofs);
  ({threads: estimating} = engine.estimates.first);
});

after(() => service.stop());

async function killWorkers(count: number): Promise<void> {
  await Promise.all(threads.slice(0, count).map(killThread));
}

function proofCall(id: number, keyCount: number) {
  const keys = Array.from({length: keyCount}, (_, at) => `0x${at.toString(16)}`);
  return {jsonrpc: "2.0", id, method: "chain_getProof", params: [ACCOUNTS[0], keys, "latest"]};
}

test("a dying worker fails its own calls with -32603 and a request id, and is replaced", async () => {
  await service.send([proofCall(0, 60), proofCall(1, 60), proofCall(2, 60)]);
  // Some of them are long jobs.
  const batch = Array.from({length: 40}, (_, id) => proofCall(id, id % 10 === 0 ? 150 : 60));
  const answering = service.send(batch);
  await waitUntil("a job", () => service.engine.memories.spares.length < MEMORIES);
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
    assert.ok(service.stderr.includes(error.data.requestId));
    assert.doesNotMatch(error.message, /worker|thread|\.ts|\.js/);
  }
  assert.ok((await service.readMetric("proofd_worker_exits_total")) > 0);
  for (let round = 0; round < 2; round++) {
    const again = await service.send(batch);
    assert.ok(again.every((answer: {result?: unknown}) => answer.result !== undefined));
  }
  assert.equal(await service.readMetric(QUEUED), 0);
  assert.equal(service.engine.memories.spares.length, MEMORIES, "no memory is lost");
});

test("a dying estimate thread fails only the calls that it has, and is replaced", async () => {
  const call = {from: ACCOUNTS[0], to: ACCOUNTS[1], value: "0x1"};
  const batch = Array.from({length: 200}, (_, id) => ({
    ...{jsonrpc: "2.0", id, method: "chain_estimateGas"},
    params: [call, "latest"],
  }));
  await service.send(batch);
  const answering = service.send(batch);
  await waitUntil("a job", () => service.engine.memories.spares.length < MEMORIES);
  await Promise.all(estimating.map(killThread));
  const answers: {id: number; error?: {code: number}}[] = await answering;
  assert.deepEqual(
    answers.map(({id}) => id),
    batch.map(({id}) => id),
  );
  const failed = answers.filter(({error}) => error !== undefined);
  assert.ok(failed.length >= 1 && failed.length <= 16, `${failed.length} calls failed`);
  assert.ok(failed.every(({error}) => error?.code === -32603));
  const again: {result?: unknown}[] = await service.send(batch);
  assert.ok(again.every(({result}) => result !== undefined));
  assert.equal(service.engine.memories.spares.length, MEMORIES, "no memory is lost");
});

test("while no proof thread can start, proofs fail at once, the service is not ready and /metrics tells; then all is well again", async () => {
  const directory = folder.file("db");
  await rename(directory, `${directory}.gone`);
  // A thread opens the store that this process has open by its path.
  await killWorkers(2);
  await waitUntil("both are down", () => threads.every(({state}) => state === "down"));
  const {length: logged} = service.stderr;
  const {error} = await service.send(proofCall(1, 1));
  assert.deepEqual([error.code, error.data], [-32005, {limit: 0, got: 1}]);
  assert.doesNotMatch(service.stderr.slice(logged), /a task failed/);
  assert.equal(await service.readMetric(QUEUED), 0);
  const {status, text} = await service.get("/readyz");
  assert.equal(status, 503);
  assert.match(text, /no proof thread is up: /);
  assert.equal(await service.readMetric('proofd_threads{kind="proof",state="down"}'), 2);
  await rename(`${directory}.gone`, directory);
  await waitUntil("both are up", () => threads.every(({state}) => state === "up"));
  assert.notEqual((await service.send(proofCall(2, 1))).result, undefined);
  assert.equal((await service.get("/readyz")).status, 200);
});
