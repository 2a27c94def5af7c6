/** The queues of the estimates, driven by threads that end their jobs when and as a test says. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, describe, test} from "node:test";
import {pino} from "pino";
import type {Dispatcher} from "../../../../server/dispatch/dispatcher.ts";
import {packTask} from "../../../../server/dispatch/lanes/packTask.ts";
import {DEFAULT_LIMITS, ESTIMATE_COST, type Limits} from "../../../../server/limits.ts";
import type {QueueFigures} from "../../../../server/observe/queueFigures.ts";
import type {RefusalLog} from "../../../../server/observe/refusalLog.ts";
import {TroubleLog} from "../../../../server/observe/troubleLog.ts";
import {LaneId} from "../../../../server/request/requestCalls.ts";
import type {TaskAnswers} from "../../../../server/request/taskText.ts";
import {whenSettled} from "../../../../workers/messages/answers.ts";
import type {EstimateCall} from "../../../../workers/messages/estimateCall.ts";
import type {CollectedReply} from "../../../support/http/collectedReply.ts";
import {
  createLane,
  finish,
  joinAnswers,
  openDispatcher,
  settle,
} from "../../../support/http/drivenDispatcher.ts";
import {createRequest, createRequestCalls} from "../../../support/http/requestCalls.ts";
import {waitUntil} from "../../../support/wait.ts";

const CALLS_PER_TASK = 4;
/** What a long call is taken to need until one has ended. */
const LONG_MS = 2000;
/** Of the long thread. */
const PLACES = 2;

/** A job on one of the threads, which waits for the test. */
interface Job {
  readonly ids: readonly string[];
  /** The calls that were not finished, and how many were begun: all, unless it is said. */
  end(unfinished?: readonly number[], begun?: number): void;
  die(): void;
}

describe("the queues of the estimates", () => {
  let dispatcher: Dispatcher;
  let refusals: RefusalLog;
  let first: Job[];
  let long: Job[];
  let logged: string[];

  function create(limits: Partial<Limits> = {}, tries = 1): void {
    [first, long, logged] = [[], [], []];
    const proof = createLane("proof", async task => answer(packTask(task).ids));
    const estimate = createLane("first", task => wait(first, packTask(task).ids), {
      maxTasks: 1,
      taskCost: CALLS_PER_TASK * ESTIMATE_COST,
      long: {
        ...{tries, threads: 1, slotsPerThread: PLACES, callMs: LONG_MS},
        perform: (task, onCompleted) => whenSettled(wait(long, packTask(task).ids), onCompleted),
      },
    });
    const log = pino({level: "warn"}, {write: (line: string) => logged.push(line)});
    ({dispatcher, refusals} = openDispatcher([proof, estimate], limits, log));
  }

  beforeEach(() => create());
  afterEach(async () => {
    // What a test has admitted last would come to the next one's jobs.
    await settle();
    dispatcher.close();
  });

  function answer(ids: readonly string[], skipped: readonly number[] = [], begun = ids.length): TaskAnswers {
    return joinAnswers(ids.map((id, call) => (call < begun && !skipped.includes(call) ? `<${id}>,` : "")));
  }

  function wait(jobs: Job[], ids: readonly string[]): Promise<TaskAnswers> {
    return new Promise((resolve, reject) => {
      jobs.push({
        ids,
        end: (unfinished = [], begun = ids.length) =>
          resolve({
            ...answer(ids, unfinished, begun),
            unfinished,
            begun,
          }),
        die: () => reject(new Error("the thread died")),
      });
    });
  }

  /** A batch of so many estimates with ids of their own, or one that is no batch. */
  function admit(
    count: number,
    client = "c",
    {isBatch = true, proofs = 0, keys = 1, timeoutMs = DEFAULT_LIMITS.timeoutMs} = {},
  ): CollectedReply {
    const call: EstimateCall = {block: 1, value: 0n, data: new Uint8Array(0)};
    const slots = [
      ...Array.from({length: count}, () => ({call})),
      ...Array.from({length: proofs}, () => keys),
    ];
    const {request, reply} = createRequest(createRequestCalls(slots, client), {client, isBatch, timeoutMs});
    dispatcher.admit(request);
    return reply;
  }

  /** An estimate that is no batch. */
  function admitOne(client: string): CollectedReply {
    return admit(1, client, {isBatch: false});
  }

  async function next(jobs: Job[]): Promise<Job> {
    await settle();
    return jobs.shift() ?? assert.fail("no job has come");
  }

  function countCalls(): Record<string, number> {
    return Object.fromEntries(
      dispatcher.readEstimateQueues().map(({figures, calls}) => [figures.name, calls]),
    );
  }

  test("of a batch's calls that start in one task, the first has waited for it, and none less than 0 ms", async t => {
    let nowMs = 1000;
    t.mock.method(performance, "now", () => nowMs++);
    admit(CALLS_PER_TASK);
    const admittedMs = nowMs;
    await next(first);
    const {figures} = dispatcher.readEstimateQueues()[0] as {figures: QueueFigures};
    assert.equal(figures.started, CALLS_PER_TASK);
    assert.ok(figures.waitedMs > 0 && figures.waitedMs <= nowMs - admittedMs + 1, `${figures.waitedMs} ms`);
  });

  test("calls that were not begun come again, before later ones, and a batch is answered in its order", async () => {
    const reply = admit(7);
    const [a, b] = [await next(first), 1];
    assert.deepEqual(a.ids, ["c0", "c1", "c2", "c3"]);
    a.end([], b);
    const again = await next(first);
    assert.deepEqual(again.ids, ["c1", "c2", "c3", "c4"]);
    again.end([], 2);
    const third = await next(first);
    assert.deepEqual(third.ids, ["c3", "c4", "c5", "c6"]);
    third.end();
    await settle();
    assert.equal(reply.text, "[<c0>,<c1>,<c2>,<c3>,<c4>,<c5>,<c6>]");
    assert.equal(dispatcher.givenBack, 5);
    assert.equal(dispatcher.queuedCost(LaneId.ESTIMATE), 0);
  });

  test("a call whose slice was too short is made again to its end, while others of its batch and other requests are answered", async () => {
    const mixed = admit(3, "a", {proofs: 1});
    (await next(first)).end([1]);
    const other = admitOne("b");
    (await next(first)).end();
    await settle();
    assert.equal(other.text, "<b0>");
    const whole = await next(long);
    assert.deepEqual(whole.ids, ["a1"]);
    assert.equal(mixed.text, "[<a0>,");
    whole.end();
    await settle();
    assert.equal(mixed.text, "[<a0>,<a1>,<a2>,<p0>]");
    assert.deepEqual(countCalls(), {first: 0, long: 0});
    assert.equal(dispatcher.queuedCost(LaneId.ESTIMATE), 0);
  });

  test("a call starts again until it has had its tries, and then goes to the long queue", async () => {
    create({}, 3);
    const reply = admit(2, "a");
    for (let at = 0; at < 2; at++) {
      const job = await next(first);
      assert.deepEqual(job.ids, at === 0 ? ["a0", "a1"] : ["a1"]);
      job.end([at === 0 ? 1 : 0]);
    }
    assert.deepEqual(countCalls(), {first: 1, long: 0});
    (await next(first)).end([0]);
    const whole = await next(long);
    assert.deepEqual([whole.ids, countCalls()], [["a1"], {first: 0, long: 0}]);
    whole.end();
    await settle();
    assert.equal(reply.text, "[<a0>,<a1>]");
    assert.equal(dispatcher.givenBack, 0);
  });

  test("while long calls hold every thread that they may have, short ones are answered", async () => {
    const loops = Array.from({length: 10}, () => admitOne("a"));
    while (countCalls().long !== 9) {
      await settle();
      for (const job of first.splice(0)) job.end(job.ids.map((_, call) => call));
    }
    await settle();
    assert.equal(long.length, 1, "one runs");
    assert.deepEqual(countCalls(), {first: 0, long: 9});
    for (let round = 0; round < 5; round++) {
      const short = admitOne("a");
      (await next(first)).end();
      await settle();
      assert.equal(short.text, "<a0>");
    }
    assert.ok(loops.every(loop => !loop.isFinished));
  });

  test("clients take turns in the first queue and in the long one", async () => {
    for (let at = 0; at < 3; at++) admit(1, "a");
    admit(1, "b");
    const job = await next(first);
    assert.deepEqual(job.ids, ["a0", "b0", "a0", "a0"]);
    job.end([0, 1, 2, 3]);
    const order: string[] = [];
    for (let at = 0; at < 4; at++) {
      const {ids, end} = await next(long);
      order.push(...ids);
      end();
    }
    assert.deepEqual(order, ["a0", "b0", "a0", "a0"]);
  });

  test("a client has one place for each thread: another client's call begins at once, and a third one's when a place is free", async () => {
    for (const client of ["a", "a", "a", "b", "c", "b"]) {
      admitOne(client);
      (await next(first)).end([0]);
    }
    const [a, b] = [await next(long), await next(long)];
    assert.deepEqual([a.ids, b.ids], [["a0"], ["b0"]]);
    await settle();
    assert.equal(long.length, 0);
    // The call of a costs the time that it took: more than starting one costs.
    const [startMs, leastMs] = [performance.now(), 5];
    while (performance.now() - startMs < leastMs);
    a.end();
    assert.deepEqual((await next(long)).ids, ["c0"], "that of who has had least");
  });

  /** Long calls of a client until one is turned away. */
  async function fillLongQueue(client: string): Promise<CollectedReply> {
    for (;;) {
      const reply = admitOne(client);
      (await next(first)).end([0]);
      await settle();
      if (refusals.counts().length === 0) continue;
      await finish(reply);
      return reply;
    }
  }

  test("a call that would wait longer than its request may take is turned away with HTTP 503", async () => {
    const refused = await fillLongQueue("a");
    assert.equal(countCalls().long, DEFAULT_LIMITS.timeoutMs / LONG_MS - 1, "and one runs");
    assert.equal(refused.retryAfterSeconds, 1);
    const {id, error} = JSON.parse(refused.text.replace("a0", '"a0"'));
    assert.equal(id, "a0");
    assert.equal(error.code, -32005);
    assert.match(error.message, /would wait longer than the request may take: try again later/);
    assert.deepEqual(error.data, {limit: 30_000, got: 30_000});
    assert.deepEqual(refusals.counts(), [{queue: "long", reason: "wait", count: 1}]);
    assert.equal(logged.length, 1);
    // Another client's has a place at once.
    const other = admitOne("b");
    (await next(first)).end([0]);
    await settle();
    assert.equal(other.isFinished, false);
    assert.deepEqual([(await next(long)).ids, (await next(long)).ids], [["a0"], ["b0"]]);
  });

  test("long calls are turned away one after the other, so that those who ask again at once do not fill the first queue", async t => {
    await fillLongQueue("a");
    const nowMs = Math.ceil(performance.now());
    t.mock.method(performance, "now", () => nowMs);
    t.mock.timers.enable({apis: ["setTimeout"]});
    const replies: CollectedReply[] = [];
    for (let at = 0; at < 3; at++) {
      replies.push(admitOne("a"));
      (await next(first)).end([0]);
    }
    await settle();
    // While no time passes, one more may wait.
    const refused = replies.slice(1);
    const states = [refused.map(({isFinished}) => isFinished)];
    for (let tick = 0; tick < 2; tick++) {
      t.mock.timers.tick(200);
      states.push(refused.map(({isFinished}) => isFinished));
    }
    assert.deepEqual(states, [
      [false, false],
      [true, false],
      [true, true],
    ]);
  });

  test("a proof that waits for its place behind a call of its batch starts when that call is turned away", async () => {
    await fillLongQueue("a");
    // More than a window holds, unless it is the next to be sent.
    const batch = admit(1, "a", {proofs: 1, keys: 5000});
    (await next(first)).end([0]);
    await finish(batch);
    assert.match(batch.text, /^\[\{"jsonrpc":"2.0","id":a0,"error":\{"code":-32005,.*\}\},<p0>\]$/);
    assert.equal(dispatcher.queuedCost(LaneId.PROOF), 0);
  });

  test("a throw while a long call is turned away is logged and ends its connection only", async t => {
    await fillLongQueue("a");
    const report = t.mock.method(TroubleLog.prototype, "reportThrown");
    const spoiled = admitOne("a");
    spoiled.sendBusy = () => {
      throw new Error("the socket is gone");
    };
    (await next(first)).end([0]);
    await waitUntil("its end", () => spoiled.isClosed);
    assert.equal(report.mock.callCount(), 1);
  });

  test("the time that calls really took decides who is turned away", async () => {
    const refused = await fillLongQueue("a");
    assert.equal(refused.isFinished, true);
    // Each ends after some milliseconds: more may wait soon.
    for (let ended = 0; ended < 10; ended++) (await next(long)).end();
    const reply = admitOne("a");
    (await next(first)).end([0]);
    await settle();
    assert.equal(reply.isFinished, false);
  });

  test("a client that goes away takes its calls out of the long queue", async () => {
    const gone = [];
    for (let at = 0; at < 5; at++) {
      gone.push(admitOne("a"));
      (await next(first)).end([0]);
    }
    await settle();
    for (const reply of gone) reply.onAborted?.();
    assert.deepEqual(countCalls(), {first: 0, long: 0});
    const reply = admitOne("a");
    (await next(first)).end([0]);
    (await next(long)).end();
    assert.deepEqual((await next(long)).ids, ["a0"]);
    assert.equal(reply.isFinished, false);
  });

  test("calls that take long leave the queue of the others, and have a limit of their own", async () => {
    create({queueCost: 3 * ESTIMATE_COST, timeoutMs: 600_000});
    const loops = admit(6, "a");
    (await next(first)).end([0, 1, 2, 3]);
    (await next(first)).end([0, 1]);
    await settle();
    assert.equal(dispatcher.queuedCost(LaneId.ESTIMATE), 0);
    assert.equal(dispatcher.findBusyLane([0, ESTIMATE_COST, 0], "a"), undefined);
    assert.equal(countCalls().long, 3, "and one runs");
    assert.deepEqual(refusals.counts(), [{queue: "long", reason: "queue_full", count: 2}]);
    const other = admitOne("b");
    (await next(first)).end([0]);
    await settle();
    assert.equal(other.isFinished, false, "another client still finds room");
    for (let ended = 0; ended < 5; ended++) (await next(long)).end();
    await settle();
    assert.equal(other.text, "<b0>");
    await finish(loops);
    assert.match(loops.text, /^\[<a0>,<a1>,<a2>,<a3>,\{.*"id":a4,.*-32005.*\},\{.*"id":a5,.*-32005.*\}\]$/);
  });

  test("when four clients fill the long queue, the last call of one gives way to another client's", async () => {
    create({queueCost: 3 * ESTIMATE_COST, timeoutMs: 600_000});
    const loops: CollectedReply[] = [];
    const addLoop = async (client: string) => {
      loops.push(admitOne(client));
      (await next(first)).end([0]);
      await settle();
    };
    for (const client of ["a", "b", "c", "d"]) for (let at = 0; at < 3; at++) await addLoop(client);
    // The first two run.
    for (const client of ["a", "b"]) await addLoop(client);
    assert.deepEqual([countCalls().long, refusals.counts()], [12, []]);
    await addLoop("e");
    assert.deepEqual(countCalls(), {first: 0, long: 12});
    assert.deepEqual(refusals.counts(), [{queue: "long", reason: "gave_way", count: 1}]);
    await waitUntil("a refusal", () => loops.some(({isFinished}) => isFinished));
    const refused = loops.find(({isFinished}) => isFinished) as CollectedReply;
    assert.equal(refused.retryAfterSeconds, 2);
    assert.match(
      refused.text,
      /"code":-32005,"message":"too many estimates and calls that take long are waiting: try again later"/,
    );
    assert.equal(loops.at(-1)?.isFinished, false);
    for (const reply of loops) reply.onAborted?.();
  });

  test("a thread that dies fails the calls of its job and no others, in any queue", async () => {
    const reply = admit(6);
    (await next(first)).die();
    (await next(first)).end([0, 1]);
    (await next(long)).die();
    (await next(long)).die();
    await settle();
    assert.equal(reply.isFinished, true);
    assert.equal([...reply.text.matchAll(/"code":-32603/g)].length, 6);
    assert.doesNotMatch(reply.text, /died/);
    const after = admitOne("c");
    (await next(first)).end();
    await settle();
    assert.equal(after.text, "<c0>");
    assert.equal(dispatcher.queuedCost(LaneId.ESTIMATE), 0);
  });

  test("what is unfinished when its time-out comes leaves the queues", async () => {
    const reply = admit(3, "c", {timeoutMs: 1000});
    const late = await next(first);
    late.end([0], 2);
    await finish(reply);
    assert.equal([...reply.text.matchAll(/-32005/g)].length, 2);
    for (const job of [...first, ...long]) job.end();
    await settle();
    assert.deepEqual(countCalls(), {first: 0, long: 0});
  });
});
