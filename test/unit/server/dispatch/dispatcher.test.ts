/** The two lanes of the dispatcher: batches that need both, requests that share them, answers that wait, and the time that counts. */
import assert from "node:assert/strict";
import {after, beforeEach, test} from "node:test";
import {ESTIMATE_COST} from "../../../../server/limits.ts";
import {PROOF_SEGMENT_COST} from "../../../../server/methods/packedCalls.ts";
import {TroubleLog} from "../../../../server/observe/troubleLog.ts";
import {LaneId} from "../../../../server/request/requestCalls.ts";
import type {Failure} from "../../../../workers/messages/failure.ts";
import {ThreadsDown} from "../../../../workers/threads/supervisor.ts";
import type {CollectedReply} from "../../../support/http/collectedReply.ts";
import {
  createAnswers,
  createFailure,
  createLane,
  DrivenDispatcher,
  ESTIMATE_TASKS,
  FULL_PROOF,
  finish,
  MEMORY_BYTES,
  openDispatcher,
  PROOF_BYTES,
  settle,
} from "../../../support/http/drivenDispatcher.ts";
import {
  createRequest,
  createRequestCalls,
  type DescribedCall,
  IDLE_ESTIMATE,
  runEstimate,
} from "../../../support/http/requestCalls.ts";

let driven: DrivenDispatcher;
let estimate: DescribedCall;

function create(options?: ConstructorParameters<typeof DrivenDispatcher>[0]): void {
  driven?.close();
  driven = new DrivenDispatcher(options);
  ({estimate} = driven);
}

beforeEach(() => create());
after(() => driven.close());

test("proofs that wait aside leave the estimates of their batch room to be made side by side", async () => {
  const proofBytes = PROOF_SEGMENT_COST * PROOF_BYTES;
  driven.proofPadding = proofBytes - 10;
  const pairs = 120;
  const reply = driven.admit(Array.from({length: pairs}, () => [estimate, FULL_PROOF]).flat());
  await settle();
  assert.equal(driven.estimateCount, ESTIMATE_TASKS);
  const [queuedProofCost] = driven.queuedCosts;
  const asideBytes = (pairs - queuedProofCost / PROOF_SEGMENT_COST) * proofBytes;
  assert.ok(asideBytes > 4e6 && asideBytes < 4.3e6, `${asideBytes} bytes wait aside`);
  let left = pairs;
  while (!reply.isFinished) {
    const {estimateCount} = driven;
    if (left > ESTIMATE_TASKS) assert.equal(estimateCount, ESTIMATE_TASKS, `${left} are left`);
    left -= estimateCount;
    driven.endEstimates();
    await settle();
  }
  const ids = [...reply.text.matchAll(/<(.\d+)>/g)].map(match => match[1]);
  assert.deepEqual(ids, Array.from({length: pairs}, (_, at) => [`e${at}`, `p${at}`]).flat());
});

test("proofs that wait for an estimate keep their memory, and give it back when they are sent or not wanted", async () => {
  driven.proofPadding = MEMORY_BYTES / 2;
  const sent = driven.admit([estimate, FULL_PROOF, FULL_PROOF]);
  const gone = driven.admit([estimate, FULL_PROOF, FULL_PROOF, FULL_PROOF]);
  await settle();
  assert.equal(driven.memoriesInUse, 5);
  gone.onAborted?.();
  assert.equal(driven.memoriesInUse, 2);
  driven.endEstimates();
  await finish(sent);
  assert.equal(sent.text.replaceAll(" ", ""), "[<e0>,<p0>,<p1>]");
  assert.equal(driven.memoriesInUse, 0);
});

test("proofs that wait for an estimate and are a small part of a task's text keep none of its memory", async () => {
  const small = driven.admit([estimate, 1]);
  const large = driven.admit(Array.from({length: 60}, () => 0));
  await finish(large);
  assert.equal(driven.tasksInMemory, 1, "they shared a task");
  assert.equal(driven.memoriesInUse, 0);
  driven.endEstimates();
  await finish(small);
  assert.equal(small.text, "[<e0>,<p0>]");
});

test("proofs that come too late give their memory back", async () => {
  const timeoutMs = 60;
  create({timeoutMs});
  driven.holdProofs();
  const gone = driven.admit([1, 1]);
  const late = driven.admit([1, FULL_PROOF]);
  await settle();
  gone.onAborted?.();
  driven.pass(timeoutMs);
  await finish(late);
  driven.releaseProofs();
  await settle();
  assert.equal(gone.text, "");
  assert.ok(driven.tasksInMemory > 0);
  assert.equal(driven.memoriesInUse, 0);
});

test("a request waits for its reader without cost and time only while nothing of it is under way", async () => {
  const timeoutMs = 1000;
  create({timeoutMs});
  driven.proofPadding = 4.5e6;
  const sixProofs = Array.from({length: 6}, () => FULL_PROOF);
  const reply = driven.admit([estimate, ...sixProofs]);
  reply.isBlocked = true;
  await settle();
  // The first proofs exceed the window behind the estimate, which is under way: the time goes on.
  driven.pass(timeoutMs / 2);
  assert.equal(driven.estimateCount, 1);
  assert.ok(driven.queuedCosts[0] > 0);
  driven.endEstimates();
  await settle();
  assert.ok(reply.unsentBytes > 4e6 && reply.unsentBytes < 16e6, `holds ${reply.unsentBytes} bytes`);
  assert.equal(reply.isFinished, false);
  assert.deepEqual(driven.queuedCosts, [0, 0], "a paused request leaves the queues");
  driven.pass(2 * timeoutMs); // time that does not count
  while (!reply.isFinished) {
    reply.drain();
    driven.pass(timeoutMs / 20); // time that counts, and the dispatcher looks at it
    reply.isBlocked = true;
    await settle();
  }
  assert.equal(reply.text.includes("error"), false);
  assert.deepEqual(driven.queuedCosts, [0, 0]);
});

test("estimates that do not end are given up in time, in their places, and their late answers are ignored", async () => {
  const timeoutMs = 60;
  create({timeoutMs});
  const reply = driven.admit([1, estimate, 1, ...Array.from({length: 5}, () => estimate)]);
  await settle();
  assert.equal(reply.text, "[<p0>,");
  driven.pass(timeoutMs);
  await finish(reply);
  const givenUp = (id: string) => `\\{"jsonrpc":"2.0","id":${id},"error":\\{"code":-32005,.*\\}\\}`;
  const expected = ["<p0>", givenUp("e0"), "<p1>", ...["e1", "e2", "e3", "e4", "e5"].map(givenUp)];
  assert.match(reply.text, new RegExp(`^\\[${expected.join(",")}\\]$`));
  assert.deepEqual(driven.queuedCosts, [0, 0]);
  const before = reply.text;
  driven.endEstimates();
  const next = driven.admit([estimate]);
  await settle();
  driven.endEstimates();
  await finish(next);
  assert.equal(next.text, "[<e0>]");
  assert.equal(reply.text, before);
});

test("while no estimate ends, proofs of the same batch and of others go on", async () => {
  const tenEstimates = Array.from({length: 10}, () => estimate);
  const stuck = driven.admit([1, ...tenEstimates, 1, 1]);
  await settle();
  assert.equal(driven.estimateCount, ESTIMATE_TASKS);
  assert.equal(stuck.text, "[<p0>,");
  assert.deepEqual(driven.queuedCosts, [0, 200], "the batch's last proofs are made, and wait aside");
  for (let round = 0; round < 5; round++) {
    const other = driven.admit([3, 4]);
    await finish(other);
    assert.equal(other.text, "[<p0>,<p1>]");
  }
});

const ends: [string, number, (one: DrivenDispatcher) => void][] = [
  ["fails", -32001, one => one.releaseProofs({failure: "BLOCK_PRUNED", detail: "pruned", block: 1})],
  ["loses its thread", -32603, one => one.releaseProofs(new Error("a thread died"))],
  ["finds no thread up", -32005, one => one.releaseProofs(new ThreadsDown("no proof thread is up"))],
  ["takes too long", -32005, one => one.pass(60_100)],
];
for (const [what, code, end] of ends)
  test(`a proof as bytes that ${what} is answered with an error as JSON`, async () => {
    driven.holdProofs();
    const reply = driven.admitBytes();
    await settle();
    end(driven);
    await finish(reply);
    assert.equal(reply.isBytes, false);
    assert.match(reply.text, new RegExp(`"code":${code},`));
    assert.deepEqual(driven.counts, [["chain_getProof", code, 1]]);
    driven.releaseProofs();
    const whole = driven.admitBytes();
    await finish(whole);
    assert.deepEqual([whole.text, whole.isBytes], ["<p0>", true]);
  });

test("while no proof ends, estimates go on", async () => {
  driven.holdProofs();
  const stuck = driven.admit([1, estimate]);
  const other = driven.admit([estimate]);
  await settle();
  driven.endEstimates();
  await finish(other);
  assert.equal(other.text, "[<e0>]");
  assert.equal(stuck.text, "");
  driven.releaseProofs();
  await finish(stuck);
  assert.equal(stuck.text, "[<p0>,<e0>]");
});

test("a client that goes away takes its estimates out of the queue", async () => {
  const gone = driven.admit(Array.from({length: 8}, () => estimate));
  await settle();
  const waiting = driven.admit([estimate]);
  gone.onAborted?.();
  assert.deepEqual(driven.queuedCosts, [0, 20]);
  driven.endEstimates();
  await settle();
  driven.endEstimates();
  await finish(waiting);
  assert.equal(gone.text, "");
  assert.equal(driven.estimateCount, 0);
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
  const reply = driven.admit(failures.map(([failure]) => ({run: async () => createFailure(failure)})));
  await finish(reply);
  for (const [index, [, text]] of failures.entries())
    assert.ok(reply.text.includes(`{"jsonrpc":"2.0","id":e${index},"error":{"code":${text}`), reply.text);
  assert.ok(reply.text.includes('"data":"0x08c379a0"'));
  assert.deepEqual(
    driven.counts.sort((a, b) => a[1] - b[1]),
    [-32603, -32602, -32005, -32004, -32002, -32001, -32000, 3].map(code => ["chain_estimateGas", code, 1]),
  );
});

test("an estimate whose task fails is -32603, and its lane goes on", async () => {
  const rejecting: DescribedCall = {run: () => Promise.reject(new Error("the thread died"))};
  const throwing: DescribedCall = {
    run: () => {
      throw new Error("cannot be cloned");
    },
  };
  const good: DescribedCall = {run: async idText => createAnswers([idText])};
  const reply = driven.admit([rejecting, throwing, 1, good]);
  await finish(reply);
  assert.match(reply.text, /^\[.*"id":e0,.*-32603.*"id":e1,.*-32603.*<p0>,<e2>\]$/);
  assert.doesNotMatch(reply.text, /died|cloned/);
  assert.deepEqual(driven.queuedCosts, [0, 0]);
});

test("a request is refused for a full lane that it needs, and only for that", async () => {
  create({queueCost: 40});
  const {dispatcher} = driven;
  driven.admit([estimate, estimate]);
  assert.deepEqual(driven.queuedCosts, [0, 40]);
  assert.equal(dispatcher.findBusyLane([1, 0, 0], ""), undefined);
  assert.equal(dispatcher.findBusyLane([0, 0, 0], ""), undefined);
  for (const proofCost of [0, 1]) {
    const full = dispatcher.findBusyLane([proofCost, 20, 0], "c");
    assert.equal(full?.lane, LaneId.ESTIMATE);
    assert.equal(full?.error.code, -32005);
    assert.deepEqual(full?.error.data, {limit: 40, got: 60});
    assert.equal(full?.retryAfterSeconds, 1);
  }
  await settle();
  driven.endEstimates();
  await settle();
  assert.equal(dispatcher.findBusyLane([0, 20, 0], "c"), undefined);
});

test("a throw while an answer is put together or given up is logged and ends one request, and no other of its task", async t => {
  create({timeoutMs: 1000});
  const report = t.mock.method(TroubleLog.prototype, "reportThrown");
  const spoil = (reply: CollectedReply) => {
    reply.finish = () => {
      throw new Error("the socket is gone");
    };
    return reply;
  };
  spoil(driven.admit([1]));
  const good = driven.admit([1]);
  await finish(good);
  assert.equal(good.text, "[<p0>]");
  assert.equal(report.mock.callCount(), 1);
  spoil(driven.admit([estimate]));
  const late = driven.admit([estimate]);
  await settle();
  driven.pass(1100);
  assert.match(late.text, /-32005/);
  assert.equal(report.mock.callCount(), 2);
  driven.endEstimates();
  await settle();
  assert.deepEqual(driven.queuedCosts, [0, 0]);
});

test("a throw while a reply goes on is logged and ends its request", t => {
  const report = t.mock.method(TroubleLog.prototype, "reportThrown");
  // The proof has more bytes than may wait behind the estimate.
  const reply = driven.admit([estimate, 5000]);
  Object.defineProperty(reply, "unsentBytes", {
    set: () => {},
    get: () => {
      throw new Error("the socket is gone");
    },
  });
  reply.drain();
  assert.equal(report.mock.callCount(), 1);
  assert.equal(reply.isClosed, true);
  assert.deepEqual(driven.queuedCosts, [0, 0]);
});

test("a task that ends as it begins counts once, whatever its reply throws", async () => {
  let begun = 0;
  const proof = createLane("proof", () => Promise.reject(), {
    maxTasks: 1,
    perform: (_, onCompleted) => {
      if (begun++ === 0) onCompleted({error: new Error("no thread is up")});
    },
  });
  const estimates = createLane("first", runEstimate);
  const {dispatcher} = openDispatcher([proof, estimates]);
  const admit = () => {
    const {request, reply} = createRequest(createRequestCalls([FULL_PROOF]));
    dispatcher.admit(request);
    return reply;
  };
  const spoiled = admit();
  for (const name of ["finish", "close"] as const)
    spoiled[name] = () => {
      throw new Error("the socket is gone");
    };
  await settle();
  assert.equal(begun, 1);
  for (let count = 0; count < 3; count++) admit();
  await settle();
  assert.equal(begun, 2, "one at a time");
  dispatcher.close();
});

test("a delay of the main thread counts once for those who wait, and not for each task that it holds up", async () => {
  const held: (() => void)[] = [];
  const estimates = createLane(
    "first",
    () => new Promise(resolve => held.push(() => resolve(createAnswers(["e"])))),
    {workers: 2, maxTasks: 4},
  );
  const {dispatcher} = openDispatcher([createLane("proof", () => Promise.reject()), estimates]);
  for (let at = 0; at < 200; at++) {
    const client = `client ${at}`;
    dispatcher.admit(createRequest(createRequestCalls([IDLE_ESTIMATE]), {client}).request);
  }
  for (const ms of [...Array.from({length: 10}, () => 10), 5000]) {
    await settle();
    assert.equal(held.length, 4);
    driven.pass(ms);
    for (const end of held.splice(0)) end();
  }
  await settle();
  assert.equal(dispatcher.queuedCost(LaneId.ESTIMATE), 156 * ESTIMATE_COST);
  assert.equal(dispatcher.findBusyLane([0, ESTIMATE_COST, 0], "another"), undefined);
  // What goes on to take so long is a wait that is too long.
  for (let turn = 0; turn < 5; turn++) {
    driven.pass(5000);
    for (const end of held.splice(0)) end();
    await settle();
  }
  const {error} = dispatcher.findBusyLane([0, ESTIMATE_COST, 0], "another") ?? assert.fail("it is admitted");
  assert.match(error.message, /^the request would wait longer than the request may take/);
  dispatcher.close();
});
