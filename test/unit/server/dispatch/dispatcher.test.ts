/** The two lanes of the dispatcher, driven by executors whose tasks end when a test says so. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, describe, mock, test} from "node:test";
import {pino} from "pino";
import {AnswerMemory} from "../../../../server/answer/answerMemory.ts";
import {LaneId} from "../../../../server/answer/requestCalls.ts";
import type {TaskAnswers} from "../../../../server/answer/taskAnswers.ts";
import {Dispatcher} from "../../../../server/dispatch/dispatcher.ts";
import {runEstimate} from "../../../../server/dispatch/lanes/estimateLane.ts";
import {packTask} from "../../../../server/dispatch/lanes/proofLane.ts";
import {PendingRequest} from "../../../../server/dispatch/pendingRequest.ts";
import {DEFAULT_LIMITS, ESTIMATE_COST} from "../../../../server/limits.ts";
import {PROOF_SEGMENT_COST} from "../../../../server/methods/proof/proofCalls.ts";
import {METHOD_NAMES} from "../../../../server/methods/table.ts";
import {CallTally} from "../../../../server/observe/callTally.ts";
import {RefusalLog} from "../../../../server/observe/refusalLog.ts";
import {TroubleLog} from "../../../../server/observe/troubleLog.ts";
import type {Failure} from "../../../../workers/job/failure.ts";
import {CollectedReply} from "../../../support/http/collectedReply.ts";
import {createRequestCalls, type DescribedCall} from "../../../support/http/requestCalls.ts";

const HEAD = {earliest: 0, finalized: 1, latest: 1};
const PROOF_BYTES = 1000;
/** Slots of a call that fills a task. */
const FULL = PROOF_SEGMENT_COST - 1;
const ESTIMATE_TASKS = 3;
const MEMORY_BYTES = 1000;

function answer(ids: readonly string[], bytes = 0): TaskAnswers {
  const texts = ids.map(id => `<${id}>${" ".repeat(bytes)},`);
  let end = 0;
  const ends = Uint32Array.from(texts, text => {
    end += text.length;
    return end;
  });
  return {text: Buffer.from(texts.join("")), ends, failures: []};
}

/** Puts the text into memory, as proof threads do where it fits. */
function putInto(memory: AnswerMemory, answers: TaskAnswers): TaskAnswers {
  if (answers.text.length > MEMORY_BYTES) return answers;
  const text = new Uint8Array(memory.take(), 0, answers.text.length);
  text.set(answers.text);
  return {...answers, text, memory};
}

function fail(failure: Failure): TaskAnswers {
  return {text: new Uint8Array(0), ends: Uint32Array.of(0), failures: [{call: 0, ...failure}]};
}

/** Several turns of the event loop: everything that can go on without the test has gone on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
}

/** Nothing else keeps the event loop going here. */
async function finish(reply: CollectedReply): Promise<void> {
  while (!reply.isFinished) await new Promise(setImmediate);
}

describe("Dispatcher", () => {
  let dispatcher: Dispatcher;
  let tally: CallTally;
  /** Estimates under way: each ends when its function is called. */
  let estimates: (() => void)[];
  /** While not null, proofs wait in it. */
  let heldProofs: (() => void)[] | null;
  let proofTextBytes: number;
  let memory: AnswerMemory;

  function create(timeoutMs: number, queueCost = 1000): void {
    tally = new CallTally(METHOD_NAMES);
    estimates = [];
    heldProofs = null;
    proofTextBytes = 0;
    memory = new AnswerMemory(MEMORY_BYTES, 100);
    const proof = {
      method: "prove",
      longCalls: null,
      workers: 1,
      maxTasks: 2,
      taskCost: PROOF_SEGMENT_COST,
      taskMs: null,
      bytesPerCost: PROOF_BYTES,
      isSharedByClients: false,
      perform: async (task: Parameters<typeof packTask>[0]) => {
        const {ids} = packTask(task);
        const held = heldProofs;
        if (held !== null) await new Promise<void>(resolve => held.push(resolve));
        return putInto(memory, answer(ids, proofTextBytes));
      },
    };
    const estimate = {
      method: "estimate",
      longCalls: null,
      workers: 1,
      maxTasks: ESTIMATE_TASKS,
      taskCost: ESTIMATE_COST,
      taskMs: null,
      bytesPerCost: 100,
      isSharedByClients: true,
      perform: runEstimate,
    };
    const limits = {...DEFAULT_LIMITS, queueCost, timeoutMs};
    const log = pino({level: "silent"});
    const observers = {tally, trouble: new TroubleLog(log), refusals: new RefusalLog(log)};
    dispatcher = new Dispatcher([proof, estimate], limits, observers);
  }

  /** What the dispatcher's clock shows; only `pass` moves it. */
  let nowMs: number;

  beforeEach(() => {
    nowMs = 1000;
    mock.method(performance, "now", () => nowMs);
    mock.timers.enable({apis: ["setInterval"]});
    create(60_000);
  });

  afterEach(() => {
    dispatcher.close();
    mock.reset();
    mock.timers.reset();
  });

  function pass(ms: number): void {
    nowMs += ms;
    mock.timers.tick(ms);
  }

  const estimate: DescribedCall = {
    run: idText => new Promise(resolve => estimates.push(() => resolve(answer([idText])))),
  };

  function admit(slots: readonly DescribedCall[], timeoutMs = 60_000): CollectedReply {
    const reply = new CollectedReply();
    const calls = createRequestCalls(slots);
    dispatcher.admit(
      new PendingRequest({id: "r", isBatch: true, head: HEAD, client: "c"}, calls, reply, timeoutMs),
    );
    return reply;
  }

  /** Ends the estimates in any order but the request's. */
  function endEstimates(): void {
    for (const end of estimates.splice(0).reverse()) end();
  }

  function queuedCosts(): number[] {
    return [dispatcher.queuedCost(LaneId.PROOF), dispatcher.queuedCost(LaneId.ESTIMATE)];
  }

  test("a batch mixes both lanes and is answered in its order", async () => {
    const reply = admit([estimate, 1, "ready", estimate, estimate, 2, estimate, estimate, estimate, 0]);
    while (!reply.isFinished) {
      await settle();
      assert.ok(estimates.length <= ESTIMATE_TASKS);
      endEstimates();
    }
    assert.equal(reply.text, "[<e0>,<p0>,ready,<e1>,<e2>,<p1>,<e3>,<e4>,<e5>,<p2>]");
    assert.deepEqual(queuedCosts(), [0, 0]);
    const counts = [...tally.entries()].map(({method, code, count}) => [method, code, count]);
    assert.deepEqual(counts, [
      ["chain_getProof", 0, 3],
      ["chain_estimateGas", 0, 6],
    ]);
  });

  test("while no estimate ends, proofs of the same batch and of others go on", async () => {
    const stuck = admit([1, ...Array.from({length: 10}, () => estimate), 1, 1]);
    await settle();
    assert.equal(estimates.length, ESTIMATE_TASKS);
    assert.equal(stuck.text, "[<p0>,");
    assert.deepEqual(queuedCosts(), [0, 200], "the batch's last proofs are made, and wait aside");
    for (let round = 0; round < 5; round++) {
      const other = admit([3, 4]);
      await finish(other);
      assert.equal(other.text, "[<p0>,<p1>]");
    }
  });

  test("while no proof ends, estimates go on", async () => {
    heldProofs = [];
    const stuck = admit([1, estimate]);
    const other = admit([estimate]);
    await settle();
    endEstimates();
    await finish(other);
    assert.equal(other.text, "[<e0>]");
    assert.equal(stuck.text, "");
    for (const end of heldProofs) end();
    await finish(stuck);
    assert.equal(stuck.text, "[<p0>,<e0>]");
  });

  test("a request is refused for a full lane that it needs, and only for that", async () => {
    create(60_000, 40);
    admit([estimate, estimate]);
    assert.deepEqual(queuedCosts(), [0, 40]);
    assert.equal(dispatcher.admission.refuse([1, 0], ""), null);
    assert.equal(dispatcher.admission.refuse([0, 0], ""), null);
    for (const costs of [
      [0, 20],
      [1, 20],
    ] as const) {
      const full = dispatcher.admission.refuse(costs, "c");
      assert.equal(full?.lane, LaneId.ESTIMATE);
      assert.equal(full?.error.code, -32005);
      assert.deepEqual(full?.error.data, {limit: 40, got: 60});
    }
    await settle();
    endEstimates();
    await settle();
    assert.equal(dispatcher.admission.refuse([0, 20], "c"), null);
  });

  test("proofs that wait aside leave the estimates of their batch room to be made side by side", async () => {
    proofTextBytes = PROOF_SEGMENT_COST * PROOF_BYTES - 10;
    const count = 120;
    const reply = admit(Array.from({length: count}, () => [estimate, FULL]).flat());
    await settle();
    assert.equal(estimates.length, ESTIMATE_TASKS);
    const asideBytes = (count - dispatcher.queuedCost(LaneId.PROOF) / PROOF_SEGMENT_COST) * proofTextBytes;
    assert.ok(asideBytes > 4e6 && asideBytes < 4.3e6, `${asideBytes} bytes wait aside`);
    let fewest = ESTIMATE_TASKS;
    for (let ended = 0; !reply.isFinished; ended += estimates.length) {
      if (ended < count - ESTIMATE_TASKS) fewest = Math.min(fewest, estimates.length);
      endEstimates();
      await settle();
    }
    assert.equal(fewest, ESTIMATE_TASKS);
    const ids = [...reply.text.matchAll(/<(.\d+)>/g)].map(match => match[1]);
    assert.deepEqual(ids, Array.from({length: count}, (_, at) => [`e${at}`, `p${at}`]).flat());
  });

  test("a request waits for its reader without cost and time only while nothing of it is under way", async () => {
    const timeoutMs = 1000;
    create(timeoutMs);
    proofTextBytes = 4.5e6;
    const reply = admit([estimate, FULL, FULL, FULL, FULL, FULL, FULL], timeoutMs);
    reply.isBlocked = true;
    await settle();
    // The first proofs exceed the window behind the estimate, which is under way: the time goes on.
    pass(timeoutMs / 2);
    assert.equal(estimates.length, 1);
    assert.ok((queuedCosts()[LaneId.PROOF] as number) > 0);
    endEstimates();
    await settle();
    assert.ok(reply.unsentBytes > 4e6 && reply.unsentBytes < 16e6, `holds ${reply.unsentBytes} bytes`);
    assert.equal(reply.isFinished, false);
    assert.deepEqual(queuedCosts(), [0, 0], "a paused request leaves the queues");
    pass(2 * timeoutMs); // time that does not count
    while (!reply.isFinished) {
      reply.drain();
      pass(timeoutMs / 20); // time that counts, and the dispatcher looks at it
      reply.isBlocked = true;
      await settle();
    }
    assert.equal(reply.text.includes("error"), false);
    assert.deepEqual(queuedCosts(), [0, 0]);
  });

  test("estimates that do not end are given up in time, in their places, and their late answers are ignored", async () => {
    const timeoutMs = 60;
    create(timeoutMs);
    const reply = admit([1, estimate, 1, ...Array.from({length: 5}, () => estimate)], timeoutMs);
    await settle();
    assert.equal(reply.text, "[<p0>,");
    pass(timeoutMs);
    await finish(reply);
    const expected = ["<p0>", "e0", "<p1>", "e1", "e2", "e3", "e4", "e5"].map(id =>
      id.startsWith("<") ? id : `\\{"jsonrpc":"2.0","id":${id},"error":\\{"code":-32005,.*\\}\\}`,
    );
    assert.match(reply.text, new RegExp(`^\\[${expected.join(",")}\\]$`));
    assert.deepEqual(queuedCosts(), [0, 0]);
    const before = reply.text;
    endEstimates();
    const next = admit([estimate]);
    await settle();
    endEstimates();
    await finish(next);
    assert.equal(next.text, "[<e0>]");
    assert.equal(reply.text, before);
  });

  test("a client that goes away takes its estimates out of the queue", async () => {
    const gone = admit(Array.from({length: 8}, () => estimate));
    await settle();
    const waiting = admit([estimate]);
    gone.onAborted?.();
    assert.deepEqual(queuedCosts(), [0, 20]);
    endEstimates();
    await settle();
    endEstimates();
    await finish(waiting);
    assert.equal(gone.text, "");
    assert.equal(estimates.length, 0);
  });

  /** How many texts keep their memory. */
  function memoriesInUse(): number {
    return memory.allocated - memory.spare;
  }

  test("proofs that wait for an estimate keep their memory, and give it back when they are sent or not wanted", async () => {
    proofTextBytes = MEMORY_BYTES / 2;
    const sent = admit([estimate, FULL, FULL]);
    const gone = admit([estimate, FULL, FULL, FULL]);
    await settle();
    assert.equal(memoriesInUse(), 5);
    gone.onAborted?.();
    assert.equal(memoriesInUse(), 2);
    endEstimates();
    await finish(sent);
    assert.equal(sent.text.replaceAll(" ", ""), "[<e0>,<p0>,<p1>]");
    assert.equal(memoriesInUse(), 0);
  });

  test("proofs that wait for an estimate and are a small part of a task's text keep none of its memory", async () => {
    const small = admit([estimate, 1]);
    const large = admit(Array.from({length: 60}, () => 0));
    await finish(large);
    assert.equal(memory.allocated, 1, "they shared a task");
    assert.equal(memoriesInUse(), 0);
    endEstimates();
    await finish(small);
    assert.equal(small.text, "[<e0>,<p0>]");
  });

  test("proofs that come too late give their memory back", async () => {
    const timeoutMs = 60;
    create(timeoutMs);
    heldProofs = [];
    const gone = admit([1, 1], timeoutMs);
    const late = admit([1, FULL], timeoutMs);
    await settle();
    gone.onAborted?.();
    pass(timeoutMs);
    await finish(late);
    for (const end of heldProofs) end();
    await settle();
    assert.equal(gone.text, "");
    assert.ok(memory.allocated > 0);
    assert.equal(memoriesInUse(), 0);
  });

  test("failures of estimates have their codes, in the answer and in the tally", async () => {
    const failures: [Failure, string][] = [
      [{failure: "REVERTED", detail: "execution reverted: no", data: "0x08c379a0"}, '3,"message":"execution'],
      [{failure: "EXECUTION_FAILED", detail: "out of gas"}, '-32000,"message":"out of gas"}'],
      [{failure: "CALL_INVALID", detail: "bad"}, '-32602,"message":"bad"}'],
      [{failure: "NOT_AVAILABLE", detail: "none"}, '-32004,"message":"none"}'],
      [
        {failure: "LIMIT_EXCEEDED", detail: "slow", limit: 1, got: 2},
        '-32005,"message":"slow","data":{"limit":1,"got":2}}',
      ],
      [{failure: "UPSTREAM_DOWN", detail: "gone"}, '-32002,"message":"gone"}'],
      [{failure: "BLOCK_UNKNOWN", detail: "7"}, "-32001,"],
      [{failure: "INTERNAL", detail: "secret"}, '-32603,"message":"internal error: the log names the cause"'],
    ];
    const reply = admit(failures.map(([failure]) => ({run: async () => fail(failure)})));
    await finish(reply);
    for (const [index, [, text]] of failures.entries())
      assert.ok(reply.text.includes(`{"jsonrpc":"2.0","id":e${index},"error":{"code":${text}`), reply.text);
    assert.ok(reply.text.includes('"data":"0x08c379a0"'));
    const codes = [...tally.entries()].map(({method, code, count}) => [method, code, count]);
    assert.deepEqual(
      codes.sort((a, b) => Number(a[1]) - Number(b[1])),
      [-32603, -32602, -32005, -32004, -32002, -32001, -32000, 3].map(code => ["chain_estimateGas", code, 1]),
    );
  });

  test("an estimate whose task fails is -32603, and its lane goes on", async () => {
    const broken: DescribedCall = {run: () => Promise.reject(new Error("the thread died"))};
    const thrower: DescribedCall = {
      run: () => {
        throw new Error("cannot be cloned");
      },
    };
    const reply = admit([broken, thrower, 1, {run: async id => answer([id])}]);
    await finish(reply);
    assert.match(reply.text, /^\[.*"id":e0,.*-32603.*"id":e1,.*-32603.*<p0>,<e2>\]$/);
    assert.doesNotMatch(reply.text, /died|cloned/);
    assert.deepEqual(queuedCosts(), [0, 0]);
  });
});
