/**
 * How long a body keeps the main thread, on which everyone waits: none within the limits much longer than the largest
 * batch that users send, which has the most calls and the most bytes. Processor time of this thread, the shortest of rounds in which every honest body has its turn, and
 * then every hostile one that is too long so far: what else the machine does (caches and cores are shared) and what others
 * left to be collected only ever add to it, on both sides.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {AnsweringThread} from "../../support/http/answeringThread.ts";
import {type BodyKind, createHonestBodies, createHostileBodies} from "../../support/http/bodyKinds.ts";

const ROUNDS = 4;
/** While a body is too long: on a machine whose speed changes, the fastest moment may have met the honest batches alone. */
const MAX_ROUNDS = 28;
const MAX_FACTOR = 1.5;

const honest = createHonestBodies();
const hostile = createHostileBodies();
/** By title: the shortest of the rounds, and the first bytes of the answer. */
const measured = new Map<string, {readonly cpuMs: number; readonly text: string}>();
let largestMs = 0;

/** The shortest time so far. */
function timeOf({title}: BodyKind): number {
  return measured.get(title)?.cpuMs ?? Number.POSITIVE_INFINITY;
}

before(async () => {
  const thread = await AnsweringThread.start();
  try {
    const measure = async (kind: BodyKind): Promise<void> => {
      const {cpuMs, text} = await thread.answer(kind);
      measured.set(kind.title, {cpuMs: Math.min(timeOf(kind), cpuMs), text});
    };
    const isTooLong = (kind: BodyKind): boolean => timeOf(kind) > MAX_FACTOR * largestMs;
    for (let round = 0; round < ROUNDS || (round < MAX_ROUNDS && hostile.some(isTooLong)); round++) {
      for (const kind of honest) await measure(kind);
      largestMs = Math.max(...honest.map(timeOf));
      for (const kind of hostile.filter(isTooLong)) await measure(kind);
    }
  } finally {
    await thread.stop();
  }
});

after(() => measured.clear());

for (const {title, body} of honest)
  test(`an honest batch is answered: ${title}`, t => {
    const {cpuMs, text} = measured.get(title) ?? assert.fail();
    t.diagnostic(`${cpuMs.toFixed(1)} ms, ${body.length} bytes`);
    assert.doesNotMatch(text, /error/);
  });

for (const {title, body} of hostile)
  test(`the main thread is not kept ${MAX_FACTOR} times as long as by the largest honest batch: ${title}`, t => {
    const {cpuMs, text} = measured.get(title) ?? assert.fail();
    t.diagnostic(
      `${cpuMs.toFixed(1)} ms to ${largestMs.toFixed(1)}, ${body.length} bytes: ${text.slice(0, 120)}`,
    );
    assert.ok(cpuMs <= MAX_FACTOR * largestMs, `${cpuMs} ms`);
  });
