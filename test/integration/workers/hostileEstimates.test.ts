/**
 * Calls made to keep a worker busy, on a real engine of one estimate thread: each comes back in its time, by the limit or
 * by its own end, and the thread answers the next call as if nothing had been.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {Answers} from "../../../workers/messages/answers.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {MAX_STRETCH} from "../../../workers/messages/estimateSlice.ts";
import {EstimateStore, PLAIN_CALL, SETTINGS} from "../../support/estimates/estimateStore.ts";
import {HELPER, HOSTILE, type HostileCall, STORED_SLOTS} from "../../support/hostileCalls/hostileCall.ts";
import {createHostileCalls} from "../../support/hostileCalls/hostileCalls.ts";
import {isSoak} from "../../support/soak.ts";

const LIMIT_MS = 100;
/**
 * Of processor time, all threads, beyond the limit: other processes do not count in it, and cannot make the test fail.
 * What lies between two looks at the clock is one opcode at most: 30 ms were seen, for KECCAK256 over 4 MB; the
 * collector's threads take some 0.2 s beside the longest.
 */
const MARGIN_MS = 600;
/** 250 MB were seen. One call's memory, stack frames, undo log and jump analyses, before the next collection. */
const MAX_GROWTH_BYTES = 800 << 20;

const ORDINARY: EstimateCall = {...PLAIN_CALL, to: HOSTILE, data: Uint8Array.of(0xff, 0x01)};

type CallFailure = Answers["failures"][number];

let store: EstimateStore;
let engine: Engine;
/** Of the engine. Each has threads of its own. */
let fork = "";
let startBytes = 0;
let mostBytes = 0;

before(async () => {
  store = await EstimateStore.create();
  const storage = Object.fromEntries(
    Array.from({length: STORED_SLOTS}, (_, slot) => [`0x${slot.toString(16)}`, "0x1"]),
  );
  // STOP, so that the ordinary call executes something.
  await store.addBlock({accounts: {[encodeHex(HOSTILE)]: {balance: "0x1", code: "0x00", storage}}});
  startBytes = process.memoryUsage().rss;
});

after(async () => {
  await store.close();
});

async function useFork(hardfork: string): Promise<void> {
  if (fork === hardfork) return;
  engine = await store.openPool({workers: 1, settings: {...SETTINGS, hardfork, timeMs: LIMIT_MS}});
  fork = hardfork;
}

function send(call: EstimateCall): Promise<Answers> {
  return engine.estimate({calls: [call], ids: ["1"]});
}

/** Milliseconds of work, for which a machine with other things to do may need more than a limit: asked again then. */
async function sendOrdinary(): Promise<Answers> {
  for (let attempt = 1; ; attempt++) {
    const answers = await send(ORDINARY).catch(ignoreAbort);
    if (answers !== undefined && answers.failures[0]?.failure !== "LIMIT_EXCEEDED") return answers;
    assert.ok(attempt < 100, `no answer: ${answers?.failures[0]?.detail ?? "the thread was replaced"}`);
  }
}

/**
 * The shortest of up to three attempts: the first ones also pay for compiling code that the thread had not run before, up to
 * 0.4 s here. An attempt takes forever if the engine replaces the thread. It does so for code that never looks at its time, always,
 * and after 6 s of wall clock: so it may also hit a thread that gets no processor.
 */
async function sendMeasured(call: EstimateCall): Promise<{failure: CallFailure | undefined; busyMs: number}> {
  let failure: CallFailure | undefined;
  let busyMs = Number.POSITIVE_INFINITY;
  for (let attempt = 1; attempt <= 3 && busyMs > LIMIT_MS + MARGIN_MS; attempt++) {
    const start = process.cpuUsage();
    const answers = await send(call).catch(ignoreAbort);
    const {user, system} = process.cpuUsage(start);
    if (answers === undefined) continue;
    failure = answers.failures[0];
    busyMs = Math.min(busyMs, (user + system) / 1000);
  }
  return {failure, busyMs};
}

function ignoreAbort(error: Error): undefined {
  if (error.name !== "AbortError") throw error;
}

function toCall({code, helper, data, isCreation, gas}: HostileCall): EstimateCall {
  if (isCreation === true) return {...PLAIN_CALL, data: code};
  const overrides = [
    {address: HOSTILE, code},
    {address: HELPER, code: helper ?? new Uint8Array(0)},
  ];
  return {
    ...PLAIN_CALL,
    to: HOSTILE,
    data: data ?? PLAIN_CALL.data,
    overrides,
    ...(gas === undefined ? {} : {gas}),
  };
}

/** `npm test` takes those that only the limit ends, and every ninth. */
const hostileCalls = createHostileCalls().filter(
  ({isLong}, at) => isSoak() || isLong === true || at % 9 === 0,
);

test("several hostile calls of one job take their time each, and a failed call between them fails as itself", async () => {
  await useFork("prague");
  await sendOrdinary();
  const endless = toCall(hostileCalls[0] ?? assert.fail());
  const poor: EstimateCall = {...ORDINARY, value: 10n ** 30n};
  const {failures, text} = await engine.estimate({
    calls: [endless, poor, endless, poor, endless],
    ids: ["1", "2", "3", "4", "5"],
  });
  assert.equal(text.length, 0);
  assert.deepEqual(
    failures.map(({call, failure}) => [call, failure]),
    [
      [0, "LIMIT_EXCEEDED"],
      [1, "EXECUTION_FAILED"],
      [2, "LIMIT_EXCEEDED"],
      [3, "EXECUTION_FAILED"],
      [4, "LIMIT_EXCEEDED"],
    ],
  );
  for (const failure of failures) {
    if (failure.failure !== "LIMIT_EXCEEDED") continue;
    assert.equal(failure.limit, LIMIT_MS);
    // Of the thread's own processor time: neither what another call has left over nor the time of two. A thread that gets none
    // is stopped by the wall clock.
    const isOwn = failure.got >= LIMIT_MS && failure.got < 2 * LIMIT_MS;
    assert.ok(isOwn || failure.got >= MAX_STRETCH * LIMIT_MS, `call ${failure.call}: ${failure.got} ms`);
  }
});

for (const hardfork of new Set(hostileCalls.map(call => call.hardfork)))
  for (const hostile of hostileCalls.filter(call => call.hardfork === hardfork))
    test(`${hostile.title} (${hardfork}) comes back in time, and the next call is answered`, async t => {
      await useFork(hardfork);
      const expected = await sendOrdinary();
      assert.deepEqual(expected.failures, []);
      const {failure, busyMs} = await sendMeasured(toCall(hostile));
      t.diagnostic(`${Math.round(busyMs)} ms of processor`);
      assert.ok(busyMs <= LIMIT_MS + MARGIN_MS, `${busyMs} ms`);
      if (failure?.failure === "LIMIT_EXCEEDED") {
        assert.match(failure.detail, new RegExp(`after ${LIMIT_MS} ms$`));
        assert.equal(failure.limit, LIMIT_MS);
        assert.ok(failure.got >= LIMIT_MS, `got ${failure.got}`);
      } else {
        assert.notEqual(hostile.isLong, true, failure?.detail ?? "an answer");
        assert.ok(failure === undefined || failure.failure === "EXECUTION_FAILED", failure?.failure);
      }
      assert.deepEqual(await sendOrdinary(), expected);
      mostBytes = Math.max(mostBytes, process.memoryUsage().rss);
    });

test("all of it together leaves the process with bounded memory", t => {
  const growth = mostBytes - startBytes;
  t.diagnostic(`${growth >> 20} MB`);
  // Below zero where the files before this one have left memory that is free by now.
  assert.ok(mostBytes > 0 && growth <= MAX_GROWTH_BYTES, `${growth >> 20} MB`);
});
