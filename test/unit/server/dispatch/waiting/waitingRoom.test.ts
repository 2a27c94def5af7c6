/** What a room of waiting requests keeps once they are over, however they end. The clock moves only when a test says so. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, type Mock, mock, test} from "node:test";
import {setImmediate as turn} from "node:timers/promises";
import {setFlagsFromString} from "node:v8";
import {runInNewContext} from "node:vm";
import {WaitingRequest} from "../../../../../server/dispatch/waiting/waitingRequest.ts";
import {WaitingRoom} from "../../../../../server/dispatch/waiting/waitingRoom.ts";
import {DEFAULT_LIMITS} from "../../../../../server/limits.ts";
import type {AwaitedBlock} from "../../../../../server/methods/method.ts";
import {WaitFigures, type WaitOutcome} from "../../../../../server/observe/waitFigures.ts";
import type {OpenReply} from "../../../../../server/request/replySink.ts";
import {RequestRecord} from "../../../../../server/request/requestRecord.ts";
import {StateReader} from "../../../../../storage/block/stateReader.ts";
import type {HashSuite} from "../../../../../storage/hash/suite.ts";
import {findSuite} from "../../../../../storage/hash/suites.ts";
import {PrunedBlocks} from "../../../../../storage/prune/prunedBlocks.ts";
import {ChainView} from "../../../../../workers/chain/chainView.ts";
import {CollectedReply} from "../../../../support/http/collectedReply.ts";

const MIB = 1 << 20;
const WAITS = 10_000;
const TIMEOUT_MS = 60_000;
const HEAD = {earliest: 0, finalized: 4, latest: 8};

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

let nowMs = 1000;
let clock: Mock<() => number>;
let isRoomToSpare = true;
let chain: ChainView;
let figures: WaitFigures;
let room: WaitingRoom;
let over: number;

function heapMib(): number {
  clock.mock.resetCalls(); // it keeps every call
  collectGarbage();
  return process.memoryUsage().heapUsed / MIB;
}

function createReply(): OpenReply {
  return Object.assign(new CollectedReply(), {
    acceptsBytes: false,
    readClient: () => "client",
    sendNothing: () => {},
  });
}

/** @returns the reply, through which the test lets the client go */
function addWait(body: Buffer, asked: Partial<AwaitedBlock>): OpenReply {
  const reply = createReply();
  const block = {number: HEAD.latest, isByHash: false, timeoutMs: TIMEOUT_MS, ...asked};
  const call = {idText: "1", method: "m", params: [body.toString("latin1")], error: undefined};
  const envelope = {isBatch: false, calls: [call], heldBytes: body.length};
  room.add(new WaitingRequest(new RequestRecord("id"), "client", envelope, reply, [{call: 0, block}]));
  return reply;
}

function pass(ms: number): void {
  nowMs += ms;
  mock.timers.tick(50);
}

beforeEach(() => {
  clock = mock.method(performance, "now", () => nowMs);
  mock.timers.enable({apis: ["setInterval"]});
  const nothing = {getSync: () => undefined, iterator: () => ({all: () => Promise.resolve([])})};
  const reader = new StateReader(nothing, findSuite("sha256") as HashSuite, {pageBytes: 0, hintBytes: 0});
  chain = new ChainView(reader, HEAD, new PrunedBlocks(), undefined);
  figures = new WaitFigures();
  isRoomToSpare = true;
  over = 0;
  room = new WaitingRoom(chain, DEFAULT_LIMITS, figures, () => isRoomToSpare);
  room.onSettled = () => over++;
  room.onRefused = () => over++;
});

afterEach(() => {
  room.close();
  mock.timers.reset();
  mock.restoreAll();
});

const ENDS: readonly [WaitOutcome, isByHash: boolean, (replies: readonly OpenReply[]) => void][] = [
  ["finalized", false, () => chain.setHead({...HEAD, finalized: HEAD.latest})],
  ["timed_out", false, () => pass(TIMEOUT_MS + 100)],
  ["replaced", true, () => chain.setHead({...HEAD, latest: HEAD.latest - 1})],
  [
    "gone",
    false,
    replies => {
      for (const {onAborted} of replies) onAborted?.();
    },
  ],
  ["stopped", false, () => room.close()],
];

for (const [outcome, isByHash, end] of ENDS)
  test(`${WAITS} waits that end as ${outcome} leave nothing behind, and a room that takes as many again`, async () => {
    const body = Buffer.alloc(1000);
    const before = heapMib();
    let replies = Array.from({length: WAITS}, () => addWait(body, {isByHash}));
    assert.equal(figures.waiting, WAITS);
    assert.notEqual(room.refuse(1, 1, "client"), undefined);
    end(replies);
    while (outcome !== "gone" && over < WAITS) await turn();
    assert.ok(replies.every(({onAborted}) => onAborted === undefined));
    replies = [];
    assert.equal(figures.ended.get(outcome), WAITS);
    assert.equal(figures.waiting, 0);
    assert.equal(room.refuse(WAITS, DEFAULT_LIMITS.bodyBytesTotal / 4, "client"), undefined);
    // The bodies alone are 10 MB.
    assert.ok(heapMib() - before < 4, `${heapMib() - before} MB`);
  });

test("the time of a wait is noted apart from its request's own", async () => {
  const reply = createReply();
  const record = new RequestRecord("id");
  const envelope = {isBatch: false, calls: [], heldBytes: 0};
  const block = {number: HEAD.latest, isByHash: false, timeoutMs: TIMEOUT_MS};
  room.add(new WaitingRequest(record, "client", envelope, reply, [{call: 0, block}]));
  nowMs += 700;
  chain.setHead({...HEAD, finalized: HEAD.latest});
  while (over < 1) await turn();
  assert.equal(record.waitedMs, 700);
  const samples = [...figures.durations.samples()].map(([suffix, , bound, figure]) => [
    suffix,
    bound,
    figure,
  ]);
  assert.deepEqual(
    samples.filter(([suffix, bound]) => suffix !== "_bucket" || bound === "0.5" || bound === "1"),
    [
      ["_bucket", "0.5", 0],
      ["_bucket", "1", 1],
      ["_sum", undefined, 0.7],
      ["_count", undefined, 1],
    ],
  );
});

test("clients that go while the lanes have no room for their settled requests take their bodies with them", async () => {
  const body = Buffer.alloc(MIB);
  const before = heapMib();
  isRoomToSpare = false;
  for (let block = HEAD.finalized + 1; block < 100; block++) {
    const {onAborted} = addWait(body, {number: block});
    chain.setHead({...HEAD, finalized: block, latest: block});
    assert.equal(figures.waiting, 0);
    // The first one stays, and all others are settled behind it.
    if (block > HEAD.finalized + 1) onAborted?.();
  }
  assert.ok(heapMib() - before < 10, `${heapMib() - before} MB`);
});

test("finality that rises by more blocks than anybody can count through ends the waits in between, and no others", async () => {
  const far = 2 ** 45;
  chain.setHead({...HEAD, latest: far + 9});
  for (const number of [7, far, far + 1]) addWait(Buffer.from("body"), {number});
  chain.setHead({...HEAD, latest: far + 9, finalized: far});
  assert.equal(figures.waiting, 1);
  while (over < 2) await turn();
});
