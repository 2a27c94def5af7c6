/** What one client's large or slow calls leave to the others: room in the queue, and their turns. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, mock, test} from "node:test";
import type {Dispatcher} from "../../../../server/dispatch/dispatcher.ts";
import {packTask} from "../../../../server/dispatch/lanes/packTask.ts";
import {DEFAULT_LIMITS, ESTIMATE_COST} from "../../../../server/limits.ts";
import type {CollectedReply} from "../../../support/http/collectedReply.ts";
import {createAnswers, createLane, openDispatcher, settle} from "../../../support/http/drivenDispatcher.ts";
import {createRequest, createRequestCalls, runEstimate} from "../../../support/http/requestCalls.ts";

const {queueCost, requestCost} = DEFAULT_LIMITS;
/** Keys of a call that holds a thread for long. */
const HEAVY = 2000;

let dispatcher: Dispatcher;
/** Costs of the tasks that run; each ends when the test says so. */
let running: {readonly cost: number; readonly clients: readonly string[]; readonly end: () => void}[];

beforeEach(() => {
  running = [];
  const proof = createLane(
    "proof",
    async task => {
      const clients = task.requests.map(({client}) => client);
      await new Promise<void>(end => running.push({cost: task.cost, clients, end}));
      return createAnswers(packTask(task).ids);
    },
    {workers: 2, maxTasks: 4},
  );
  ({dispatcher} = openDispatcher([proof, createLane("first", runEstimate)]));
});

afterEach(async () => {
  // What a test has admitted last would come to the next one's tasks.
  await settle();
  dispatcher.close();
});

/** Admits a request of these calls, given by their numbers of keys, if it is not refused. */
function ask(client: string, keyCounts: readonly number[]): CollectedReply | undefined {
  const cost = keyCounts.reduce((sum, count) => sum + 1 + count, 0);
  if (dispatcher.findBusyLane([cost, 0, 0], client) !== undefined) return undefined;
  const {request, reply} = createRequest(createRequestCalls(keyCounts), {client});
  dispatcher.admit(request);
  return reply;
}

/** Asks until the client is refused. @returns the answers to its requests */
function fill(client: string, keyCounts: readonly number[]): CollectedReply[] {
  for (const replies: CollectedReply[] = []; ; ) {
    const reply = ask(client, keyCounts);
    if (reply === undefined) return replies;
    replies.push(reply);
  }
}

const dataOf = (client: string, cost: number) => dispatcher.findBusyLane([cost, 0, 0], client)?.error.data;
const refusedOf = (replies: readonly CollectedReply[]) =>
  replies.flatMap(({retryAfterSeconds}, at) => (retryAfterSeconds === undefined ? [] : [at]));

test("no client fills the queue for others, whatever its requests cost: when it is full, the last of who has most gives way", async () => {
  const largest = Array.from({length: 10}, () => requestCost / 10 - 1);
  const [a] = [fill("a", largest), fill("b", largest)];
  assert.equal(a.length, 1);
  assert.deepEqual(dataOf("a", 1), {limit: queueCost, got: requestCost + 1}, "its own bound");
  const c = fill("c", [HEAVY - 1]);
  const d = fill("d", [HEAVY - 1]);
  assert.deepEqual([c.length, d.length], [queueCost / HEAVY, queueCost / HEAVY]);
  await settle();
  assert.deepEqual([a, c, d].map(refusedOf), [[], [], []]);
  const e = ask("e", [HEAVY - 1]);
  // The batches have begun: their other calls get an error.
  assert.equal(a[0]?.retryAfterSeconds, undefined);
  assert.match(
    a[0]?.text ?? "",
    /^\[\{.*"code":-32005,"message":"the queue of proof is full: try again later"/,
  );
  assert.equal(e?.isFinished, false);
  assert.deepEqual([c, d].map(refusedOf), [[], []]);
  for (const client of ["f", "g", "h", "i"]) fill(client, [HEAVY - 1]);
  const {limit, got} = dataOf("j", queueCost) as {readonly limit: number; readonly got: number};
  assert.equal(limit, 4 * queueCost, "the bound for all clients");
  assert.ok(got >= 5 * queueCost && got < 5 * queueCost + HEAVY, `${got}`);
  for (const replies of [c, d]) {
    const refused = refusedOf(replies);
    assert.ok(refused.length > 0 && refused.at(-1) === replies.length - 1, `${refused}`);
    assert.match(replies.at(-1)?.text ?? "", /^\{"jsonrpc":"2.0","id":null,"error":\{"code":-32005,/);
  }
});

for (const client of ["a", "b"])
  test(`while client a loops the largest calls on many connections, proofs of ${client} start at once`, async () => {
    const loops = Array.from({length: 4}, () => ask("a", [HEAVY]));
    await settle();
    assert.deepEqual(
      running.map(({cost}) => cost),
      [HEAVY + 1, HEAVY + 1],
      "one for each thread, and none behind it",
    );
    for (let round = 0; round < 20; round++) {
      const others = Array.from({length: 8}, () => ask(client, [0]));
      await settle();
      const own = running.filter(({cost}) => cost < HEAVY);
      assert.equal(
        own.reduce((sum, {cost}) => sum + cost, 0),
        others.length,
      );
      for (const {end} of own) end();
      running = running.filter(task => !own.includes(task));
      assert.equal(running.length, 2);
      running.shift()?.end();
      await settle();
      assert.ok(others.every(reply => reply?.isFinished === true));
      assert.equal(running.length, 2, "the next of the largest");
      // The loop goes on as soon as it is answered.
      for (const [at, reply] of loops.entries())
        if (reply?.isFinished === true) loops[at] = ask("a", [HEAVY]);
      await settle();
    }
    assert.ok(loops.every(reply => reply !== undefined));
  });

test("where slow tasks leave room for others, a client without one is admitted, whatever waits", async () => {
  dispatcher.close();
  let nowMs = 0;
  mock.method(performance, "now", () => nowMs);
  const ends = new Map<string, () => void>();
  const run = (idText: string) =>
    new Promise<ReturnType<typeof createAnswers>>(end =>
      ends.set(idText.slice(0, 1), () => end(createAnswers([idText]))),
    );
  const slow = {workers: 8, maxTasks: 8, leavesRoom: true};
  const lanes = [createLane("proof", runEstimate), createLane("first", runEstimate, slow)] as const;
  ({dispatcher} = openDispatcher(lanes, {timeoutMs: 1000}));
  try {
    for (const client of ["a", "b", "c", "d", "e", "f", "g"]) {
      const calls = createRequestCalls(Array(10).fill({run}), client);
      dispatcher.admit(createRequest(calls, {client}).request);
    }
    await settle();
    assert.deepEqual([...ends.keys()], ["a", "b", "c", "d", "e", "f", "g"]);
    for (let round = 0; round < 5; round++) {
      nowMs += 10_000;
      ends.get("g")?.();
      await settle();
    }
    const askedBy = (client: string) => dispatcher.findBusyLane([0, ESTIMATE_COST, 0], client);
    assert.match(
      askedBy("a")?.error.message ?? "",
      /^the request would wait longer than the request may take/,
    );
    assert.equal(askedBy("new"), undefined);
  } finally {
    mock.reset();
  }
});
