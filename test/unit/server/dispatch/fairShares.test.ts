/** What one client's large calls for proofs leave to the others: room in the queue, and their turns. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import type {Dispatcher} from "../../../../server/dispatch/dispatcher.ts";
import {runEstimate} from "../../../../server/dispatch/lanes/estimateLane.ts";
import {packTask} from "../../../../server/dispatch/lanes/proofLane.ts";
import {DEFAULT_LIMITS} from "../../../../server/limits.ts";
import type {CollectedReply} from "../../../support/http/collectedReply.ts";
import {createAnswers, createLane, openDispatcher, settle} from "../../../support/http/drivenDispatcher.ts";
import {createRequest, createRequestCalls} from "../../../support/http/requestCalls.ts";

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
  if (dispatcher.refuse([cost, 0], client) !== undefined) return undefined;
  const {request, reply} = createRequest(createRequestCalls(keyCounts), {client});
  dispatcher.admit(request);
  return reply;
}

/** Asks until the client is refused. @returns how many requests entered */
function fill(client: string, keyCounts: readonly number[]): number {
  for (let count = 0; ; count++) if (ask(client, keyCounts) === undefined) return count;
}

test("no request and no three clients fill the queue for another client, whatever their requests cost", () => {
  const largest = Array.from({length: 10}, () => requestCost / 10 - 1);
  assert.equal(fill("a", largest), 1);
  assert.equal(ask("a", [0]), undefined, "its own share is used up");
  assert.equal(fill("b", largest), 1);
  assert.equal(fill("c", [HEAVY - 1]), queueCost / HEAVY);
  assert.notEqual(ask("d", [0]), undefined);
  fill("d", [HEAVY - 1]);
  const dataOf = (client: string) => dispatcher.refuse([1, 0], client)?.error.data;
  assert.deepEqual(dataOf("a"), {limit: queueCost, got: requestCost + 1}, "its own bound");
  assert.deepEqual(dataOf("e"), {limit: 4 * queueCost, got: 4 * queueCost + 1}, "the bound for all clients");
});

test("while a client loops the largest calls on many connections, another's proofs start after one of them at most", async () => {
  const loops = Array.from({length: 4}, () => ask("a", [HEAVY]));
  await settle();
  assert.deepEqual(
    running.map(({cost}) => cost),
    [HEAVY + 1, HEAVY + 1],
    "one for each thread, and none behind it",
  );
  for (let round = 0; round < 20; round++) {
    const other = ask("b", [1, 1, 1]);
    running.shift()?.end();
    await settle();
    const own = running.find(({clients}) => clients.includes("b"));
    assert.ok(own !== undefined, `round ${round}: ${running.map(({clients}) => clients)}`);
    own.end();
    running = running.filter(task => task !== own);
    await settle();
    assert.equal(other?.isFinished, true);
    // The loop goes on as soon as it is answered.
    for (const [at, reply] of loops.entries()) if (reply?.isFinished === true) loops[at] = ask("a", [HEAVY]);
    await settle();
  }
  assert.ok(loops.every(reply => reply !== undefined));
});
