/** An estimate thread that dies takes down the calls of its job, and is replaced: short ones as well as long ones. */

import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import type {ThreadGroup} from "../../../workers/threads/threadGroup.ts";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {killThread} from "../../support/threads/killThread.ts";
import {waitUntil} from "../../support/wait.ts";

type Groups = Record<"first" | "long", ThreadGroup<unknown, unknown>>;

const LOOP = `0x${"99".repeat(20)}`;
/** A loop of hashes takes a minute and more for it. */
const ENDLESS_GAS = 2 ** 32;

let folder: WorkFolder;
let service: OwnService;
let groups: Groups;

before(async () => {
  folder = await WorkFolder.create();
  const flags = ["--db", await folder.importChain("db", 1, 1), "--hardfork", "prague", "--workers", "1"];
  // A loop never ends by itself here.
  service = await OwnService.serve(flags, {
    estimates: true,
    limits: {timeoutMs: 86_400_000},
    settings: {timeMs: 600_000, gasCap: ENDLESS_GAS},
  });
  groups = (service.engine as unknown as {estimates: Groups}).estimates;
});

after(async () => {
  // A test that failed may have left a loop.
  await Promise.all([kill("first"), kill("long")]);
  await service.stop();
  await folder.remove();
});

async function kill(kind: "first" | "long"): Promise<void> {
  await Promise.all(groups[kind].threads.map(killThread));
}

function transfer(id: number) {
  const params = [{from: ACCOUNTS[0], to: ACCOUNTS[1], value: "0x1"}, "latest"];
  return {jsonrpc: "2.0", id, method: "chain_estimateGas", params};
}

function loop(id: number) {
  const code = codeOf("again: PUSH1 0 PUSH1 0 KECCAK256 POP PUSH1 again JUMP");
  const params = [{to: LOOP, gas: `0x${ENDLESS_GAS.toString(16)}`}, "latest", {[LOOP]: {code}}];
  return {jsonrpc: "2.0", id, method: "chain_estimateGas", params};
}

/** Longer than a slice. */
function countdown(id: number) {
  const turns = (5_000_000).toString(16).padStart(64, "0");
  const code = codeOf(
    "PUSH1 0 CALLDATALOAD again: DUP1 ISZERO PUSH1 done JUMPI PUSH1 1 SWAP1 SUB PUSH1 again JUMP done: STOP",
  );
  const params = [{to: LOOP, data: `0x${turns}`, gas: "0x40000000"}, "latest", {[LOOP]: {code}}];
  return {jsonrpc: "2.0", id, method: "chain_estimateGas", params};
}

function longStarts(): Promise<number> {
  return service.readMetric('proofd_estimate_starts_total{queue="long"}');
}

/** @returns the codes of the errors */
async function checkBatch(answering: Promise<unknown>, count: number): Promise<number[]> {
  const answers = (await answering) as {id: number; result?: {gasLimit: string}; error?: {code: number}}[];
  assert.deepEqual(
    answers.map(({id}) => id),
    Array.from({length: count}, (_, id) => id),
  );
  for (const {result} of answers) if (result !== undefined) assert.equal(result.gasLimit, "0x5208");
  return answers.flatMap(({error}) => (error === undefined ? [] : [error.code]));
}

test("a short one that dies fails a part of a batch, whose others are answered in order", async () => {
  const count = 200;
  const batch = Array.from({length: count}, (_, id) => transfer(id));
  assert.deepEqual(await checkBatch(service.send(batch), count), []);
  const answering = service.send(batch);
  await waitUntil("a job", () => groups.first.threads.some(({jobs}) => jobs > 0));
  await kill("first");
  const codes = await checkBatch(answering, count);
  // Its job and the one in its mailbox.
  assert.ok(codes.length <= 32, `${codes.length} calls failed`);
  assert.ok(codes.every(code => code === -32603));
  assert.deepEqual(await checkBatch(service.send(batch), count), []);
  assert.equal(await service.readMetric('proofd_queued_cost{lane="estimate"}'), 0);
});

test("a long one that dies fails its call, and the next long call gets a new one", async () => {
  const count = async () => assert.ok(Number((await service.send(countdown(1))).result.gasLimit) > 3_000_000);
  // The thread is there when this is answered: killed while it starts, it would leave the loop to the next one.
  await count();
  const answering = service.send(loop(2));
  await waitUntil("two starts of the long one", async () => (await longStarts()) >= 2);
  assert.equal((await service.send(transfer(7))).result.gasLimit, "0x5208");
  await kill("long");
  const {error} = await answering;
  assert.equal(error.code, -32603);
  assert.deepEqual(Object.keys(error.data), ["requestId"]);
  const before = await longStarts();
  await count();
  assert.ok((await longStarts()) > before);
  assert.ok((await service.readMetric("proofd_worker_exits_total")) > 0);
});
