/**
 * Calls made to keep a worker busy, on a real pool of one estimate thread: each comes back in its time, by the limit or
 * by its own end, and the thread answers the next call as if nothing had been.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import type {Answers, EstimateCall} from "../../workers/job.ts";
import type {ProofPool} from "../../workers/pool.ts";
import {EstimateStore, PLAIN_CALL, SETTINGS} from "../support/estimateStore.ts";
import {encodeHex} from "../support/hex.ts";
import {
  createHostileCalls,
  HELPER,
  HOSTILE,
  type HostileCall,
  STORED_SLOTS,
} from "../support/hostileCalls.ts";

const LIMIT_MS = 300;
/**
 * Of processor time, which a busy machine does not stretch. What lies between two looks at the clock is one opcode at
 * most. The longest found is the jump analysis of 2.4 MB of pushes, 0.15 s on two idle cores, 0.35 s on two busy ones.
 */
const MARGIN_MS = 1000;
/** 250 MB were seen. One call's memory, stack frames, undo log and jump analyses, before the next collection. */
const MAX_GROWTH_BYTES = 800 << 20;

const ORDINARY: EstimateCall = {...PLAIN_CALL, to: HOSTILE, data: Uint8Array.of(0xff, 0x01)};

let store: EstimateStore;
let pool: ProofPool;
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

/** Of this process, which does nothing else. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1000;
}

function send(call: EstimateCall): Promise<Answers> {
  return pool.estimate({calls: [call], ids: ["1"]});
}

function toCall({code, helper, data, isCreation}: HostileCall): EstimateCall {
  if (isCreation === true) return {...PLAIN_CALL, data: code};
  const overrides = [
    {address: HOSTILE, code},
    {address: HELPER, code: helper ?? new Uint8Array(0)},
  ];
  return {...PLAIN_CALL, to: HOSTILE, data: data ?? PLAIN_CALL.data, overrides};
}

const hostileCalls = createHostileCalls();
for (const hardfork of new Set(hostileCalls.map(call => call.hardfork)))
  for (const hostile of hostileCalls.filter(call => call.hardfork === hardfork))
    test(`${hostile.title} (${hardfork}) comes back in time, and the next call is answered`, async t => {
      if (fork !== hardfork)
        pool = await store.openPool({workers: 1, settings: {...SETTINGS, hardfork, timeMs: LIMIT_MS}});
      fork = hardfork;
      const expected = await send(ORDINARY);
      assert.deepEqual(expected.failures, []);
      const before = process.cpuUsage();
      const {failures} = await send(toCall(hostile));
      const tookMs = cpuMsSince(before);
      t.diagnostic(`${Math.round(tookMs)} ms`);
      assert.ok(tookMs <= LIMIT_MS + MARGIN_MS, `${tookMs} ms`);
      const [failure] = failures;
      if (failure?.failure === "LIMIT_EXCEEDED") {
        assert.match(failure.detail, new RegExp(`after ${LIMIT_MS} ms$`));
        assert.equal(failure.limit, LIMIT_MS);
        assert.ok(failure.got >= LIMIT_MS, `got ${failure.got}`);
      } else {
        assert.notEqual(hostile.isLong, true, failure?.detail ?? "an answer");
        assert.ok(failure === undefined || failure.failure === "EXECUTION_FAILED", failure?.failure);
      }
      assert.deepEqual(await send(ORDINARY), expected);
      mostBytes = Math.max(mostBytes, process.memoryUsage().rss);
    });

test("all of it together leaves the process with bounded memory", t => {
  const growth = mostBytes - startBytes;
  t.diagnostic(`${growth >> 20} MB`);
  assert.ok(growth > 0 && growth <= MAX_GROWTH_BYTES, `${growth >> 20} MB`);
});

test("several hostile calls of one job take their time each, and ordinary ones between them are answered", async () => {
  pool = await store.openPool({workers: 1, settings: {...SETTINGS, timeMs: LIMIT_MS}});
  const endless = toCall(hostileCalls[0] ?? assert.fail());
  const before = process.cpuUsage();
  const {failures} = await pool.estimate({
    calls: [endless, ORDINARY, endless, ORDINARY, endless],
    ids: ["1", "2", "3", "4", "5"],
  });
  assert.ok(cpuMsSince(before) <= 3 * LIMIT_MS + MARGIN_MS);
  assert.deepEqual(
    failures.map(({call, failure}) => [call, failure]),
    [0, 2, 4].map(call => [call, "LIMIT_EXCEEDED"]),
  );
});
