/** What is kept of calls that wait for their next slice. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {PausedCalls} from "../../../../server/dispatch/pausedCalls.ts";
import {PendingRequest} from "../../../../server/dispatch/pendingRequest.ts";
import {SliceQueue} from "../../../../server/dispatch/sliceQueue.ts";
import type {Task} from "../../../../server/dispatch/task.ts";
import {RequestRecord} from "../../../../server/request/requestRecord.ts";
import type {PausedEstimate} from "../../../../workers/job/pausedEstimate.ts";
import {CollectedReply} from "../../../support/http/collectedReply.ts";
import {createRequestCalls} from "../../../support/http/requestCalls.ts";

const MAX_CALLS = 16;
const MAX_BYTES = 64 << 20;

/** A call that was paused before its first step. */
function createPaused(bytes = 100): PausedEstimate {
  const instance = {parts: new Uint32Array(0), bytes: new Uint8Array(bytes), variables: []};
  return {
    ...{block: new Uint8Array(32), usedMs: 3, mark: 0},
    runs: {
      ...{results: [], authorities: [], mark: 0, run: {instance, isCreation: false}},
      start: {nonce: 0n, balance: 0n, isPlainTransfer: false},
    },
  };
}

test("so many calls are kept, and so many bytes; what comes beyond begins again, until there is room", () => {
  const calls = new PausedCalls();
  const kept = Array.from({length: MAX_CALLS}, () => ({}));
  for (const call of kept) calls.keep(call, createPaused());
  assert.equal(calls.restarts, 0);
  const beyond = {};
  calls.keep(beyond, createPaused());
  assert.equal(calls.restarts, 1);
  assert.equal(calls.take(beyond), undefined);
  for (const call of kept) assert.equal(calls.take(call)?.usedMs, 3);
  const [large, small] = [{}, {}];
  calls.keep(large, createPaused(MAX_BYTES - 99));
  calls.keep(small, createPaused());
  assert.equal(calls.restarts, 2);
  assert.notEqual(calls.take(large), undefined);
  calls.keep(small, createPaused());
  assert.notEqual(calls.take(small), undefined);
  calls.keep({}, undefined);
  assert.equal(calls.restarts, 3);
});

test("a call takes with it what was kept of it, and a request that nobody waits for leaves nothing behind", async () => {
  const calls = new PausedCalls();
  const tasks: Task[] = [];
  const perform = async (task: Task) => {
    tasks.push(task);
    return {text: new Uint8Array(0), ends: new Uint32Array(1), failures: []};
  };
  const queue = new SliceQueue("second", {workers: 1, sliceMs: 50, perform}, undefined, calls, () => {});
  const create = () => {
    const origin = {
      record: new RequestRecord("r"),
      isBatch: true,
      head: {earliest: 0, finalized: 1, latest: 1},
      client: "c",
    };
    const call = {block: 1, value: 0n, data: new Uint8Array(0)};
    return new PendingRequest(origin, createRequestCalls([{call}], "c"), new CollectedReply(), 30_000);
  };
  const [gone, waiting] = [create(), create()];
  for (let at = 0; at < MAX_CALLS; at++) queue.add(gone, 0, createPaused());
  queue.forget(gone);
  const paused = createPaused();
  queue.add(waiting, 0, paused);
  queue.add(waiting, 0, undefined);
  await queue.run();
  await queue.run();
  assert.deepEqual(
    tasks.map(task => [task.requests[0] === waiting, task.paused]),
    [
      [true, paused],
      [true, undefined],
    ],
  );
  assert.equal(calls.restarts, 1);
});
