/** When the source of finality is asked. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {setImmediate as nextTurn, setTimeout as sleep} from "node:timers/promises";
import {pino} from "pino";
import {type FinalitySource, Finalizing} from "../../../../../server/lifecycle/finality/finalizing.ts";
import {FinalityStatus} from "../../../../../server/observe/finalityStatus.ts";

const POLL_MS = 100;
const HOUR_MS = 3_600_000;

type Step = ReturnType<FinalitySource["step"]>;

/** @param answer - to the first question. @returns how many were asked in the turn after its answer */
async function countAsked(pollMs: number, answer: () => Step): Promise<number> {
  let asked = 0;
  let note = (): void => {};
  const answered = new Promise<void>(resolve => {
    note = resolve;
  });
  const step = (): Step => {
    asked++;
    if (asked > 1) return Promise.resolve("following");
    return answer().finally(note);
  };
  const finalizing = new Finalizing({step}, new FinalityStatus("tag"), pollMs, pino({enabled: false}));
  await answered;
  await nextTurn();
  const count = asked;
  await finalizing.stop();
  return count;
}

test("an answer that takes longer than a poll is followed by the next question at once", async () => {
  assert.equal(await countAsked(POLL_MS, () => sleep(2 * POLL_MS, "following" as const)), 2);
});

test("so is a failure that takes longer than a poll", async () => {
  const fail = () => sleep(2 * POLL_MS).then(() => Promise.reject(new Error("refused")));
  assert.equal(await countAsked(POLL_MS, fail), 2);
});

test("an answer that takes no time is not followed by the next question before the poll's time", async () => {
  assert.equal(await countAsked(HOUR_MS, () => Promise.resolve("following")), 1);
});

test("an answer that says there is more is followed by the next question at once", async () => {
  assert.equal(await countAsked(HOUR_MS, () => Promise.resolve("reading")), 2);
});

test("finality stops with a reason, which is logged once though its numbers change, and goes on with the next answer", async () => {
  const status = new FinalityStatus("tag");
  const logged: string[] = [];
  const write = (line: string): void => {
    const {level, msg, reason} = JSON.parse(line) as {level: number; msg: string; reason?: string};
    logged.push(`${level} ${msg}${reason === undefined ? "" : `: ${reason}`}`);
  };
  const answers: readonly (() => Step)[] = [
    () => Promise.resolve("reading"),
    () => Promise.resolve("following"),
    () => Promise.resolve("following"),
    () => Promise.reject(new Error("block 9 (0x0a) is not held")),
    () => Promise.reject(new Error("block 10 (0xff01) is not held")),
    () => Promise.reject(new Error("b")),
    () => Promise.resolve("waiting"),
  ];
  /** State and reason before each question. */
  const seen: string[] = [];
  let note = (): void => {};
  const asked = new Promise<void>(resolve => {
    note = resolve;
  });
  const step = (signal: AbortSignal): Step => {
    seen.push(`${status.state} ${status.reason}`);
    const answer = answers[seen.length - 1];
    if (answer !== undefined) return answer();
    note();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const finalizing = new Finalizing({step}, status, 0, pino({level: "info"}, {write}));
  await asked;
  await finalizing.stop();
  assert.deepEqual(seen.slice(1), [
    "reading ",
    "following ",
    "following ",
    "stopped block 9 (0x0a) is not held",
    "stopped block 10 (0xff01) is not held",
    "stopped b",
    "waiting ",
  ]);
  assert.equal(status.state, "waiting", "the end is no failure");
  assert.deepEqual(logged, [
    "30 everything that is final was read; new finality is followed",
    "50 finality has stopped, the service continues: block 9 (0x0a) is not held",
    "50 finality has stopped, the service continues: b",
    "30 finality continues after a stop",
  ]);
});
