/** When the source of finality is asked. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {setImmediate as nextTurn, setTimeout as sleep} from "node:timers/promises";
import {pino} from "pino";
import {type FinalityWork, Finalizing} from "../../../../cli/commands/finalizing.ts";
import {FinalityStatus} from "../../../../server/observe/finalityStatus.ts";

const POLL_MS = 100;
const HOUR_MS = 3_600_000;

type Step = ReturnType<FinalityWork["step"]>;

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
