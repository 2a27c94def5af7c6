/** An estimate thread that dies takes down the calls of its job, and is replaced: short ones as well as long ones. */

import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {pino} from "pino";
import {createFront, type Front} from "../../../server/front.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {LaneId} from "../../../server/rpc/requestCalls.ts";
import {Engine} from "../../../workers/engine.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/messages/estimateSettings.ts";
import type {ThreadGroup} from "../../../workers/threads/threadGroup.ts";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {killThread} from "../../support/threads/killThread.ts";
import {waitUntil} from "../../support/wait.ts";

const LOOP = `0x${"99".repeat(20)}`;
/** A loop of hashes takes a minute and more for it. */
const ENDLESS_GAS = 2 ** 32;

describe("an estimate thread that dies", () => {
  let folder: WorkFolder;
  let engine: Engine;
  let front: Front;
  let url: string;

  before(async () => {
    folder = await WorkFolder.create();
    const directory = await folder.importChain("db", 1, 1);
    const log = pino({level: "silent"});
    const trouble = new TroubleLog(log);
    // A loop never ends by itself here.
    const settings = {...DEFAULT_ESTIMATE_SETTINGS, hardfork: "prague", timeMs: 600_000, gasCap: ENDLESS_GAS};
    engine = await Engine.open({
      directory,
      workers: 0,
      cacheBytes: 1 << 22,
      createIfMissing: false,
      estimates: {workers: 1, settings},
      onWorkerExit: error => trouble.reportWorkerExit(error),
    });
    const limits = {...DEFAULT_LIMITS, timeoutMs: 86_400_000};
    const options = {host: "127.0.0.1", port: 0, limits};
    const {gasCap, timeMs} = settings;
    const estimate = engine.estimate.bind(engine);
    front = createFront(options, engine, {kind: "here", gasCap, timeMs, workers: 1, estimate}, trouble, log);
    url = `http://127.0.0.1:${await front.http.listen()}`;
  });

  after(async () => {
    front.http.close();
    front.dispatcher.close();
    // A test that failed may have left a loop.
    await Promise.all([kill("first"), kill("long")]);
    await engine.close();
    await folder.remove();
  });

  async function kill(kind: "first" | "long"): Promise<void> {
    const {estimates} = engine as unknown as {
      estimates: Record<"first" | "long", ThreadGroup<unknown, unknown>>;
    };
    await Promise.all(estimates[kind].threads.map(killThread));
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
  async function send(body: unknown): Promise<any> {
    const headers = {"content-type": "application/json"};
    return (await fetch(url, {method: "POST", headers, body: JSON.stringify(body)})).json();
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

  function longStarts(): number {
    return (
      front.dispatcher.readEstimateQueues().find(({figures}) => figures.name === "long")?.figures.started ?? 0
    );
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

  test("of the short ones fails a part of a batch, whose others are answered in order", async () => {
    const count = 200;
    const batch = Array.from({length: count}, (_, id) => transfer(id));
    assert.deepEqual(await checkBatch(send(batch), count), []);
    const answering = send(batch);
    await waitUntil("a queued estimate", () => front.dispatcher.queuedCost(LaneId.ESTIMATE) > 0);
    await kill("first");
    const codes = await checkBatch(answering, count);
    // Its job and the one in its mailbox.
    assert.ok(codes.length <= 32, `${codes.length} calls failed`);
    assert.ok(codes.every(code => code === -32603));
    assert.deepEqual(await checkBatch(send(batch), count), []);
    assert.equal(front.dispatcher.queuedCost(LaneId.ESTIMATE), 0);
  });

  test("of the long ones fails its call, and the next long call gets a new one", async () => {
    const count = async () => assert.ok(Number((await send(countdown(1))).result.gasLimit) > 3_000_000);
    // The thread is there when this is answered: killed while it starts, it would leave the loop to the next one.
    await count();
    const answering = send(loop(2));
    await waitUntil("two starts of the long one", () => longStarts() >= 2);
    assert.equal((await send(transfer(7))).result.gasLimit, "0x5208");
    await kill("long");
    const {error} = await answering;
    assert.equal(error.code, -32603);
    assert.deepEqual(Object.keys(error.data), ["requestId"]);
    const before = longStarts();
    await count();
    assert.ok(longStarts() > before);
    assert.match((await front.metrics.read()).text, /\nproofd_worker_exits_total [1-9]/);
  });
});
