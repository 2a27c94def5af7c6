/** The time limit of a call, on the processor time of this thread. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {Deadline, TimeLimitError} from "../../../../../workers/estimate/call/deadline.ts";
import {ThreadClock} from "../../../../../workers/thread/threadClock.ts";

const thread = new ThreadClock();
const readMs = () => thread.readMs() ?? performance.now();

/** Works until the time is over. */
function exhaust(deadline: Deadline): TimeLimitError {
  try {
    for (;;) deadline.check();
  } catch (error) {
    if (error instanceof TimeLimitError) return error;
    throw error;
  }
}

test("each call gets the time of its slice for itself, whatever the calls before it took", () => {
  const [ms, clockMs] = [200, 15_000];
  const deadline = new Deadline(clockMs);
  for (let call = 0; call < 3; call++) {
    const [startMs, startThreadMs] = [performance.now(), readMs()];
    deadline.start({ms, clockMs});
    assert.equal(exhaust(deadline).limitMs, ms);
    const ownMs = readMs() - startThreadMs;
    // On a machine too busy to give the thread its time, the wall clock ends the call.
    const isStarved = performance.now() - startMs >= clockMs;
    assert.ok((ownMs >= ms && ownMs < 2 * ms) || isStarved, `call ${call}: ${ownMs} ms`);
  }
});

test("work that a call does not pay for takes none of its time", async () => {
  const deadline = new Deadline(15_000);
  deadline.start({ms: 100, clockMs: 15_000});
  await deadline.exclude(async () => {
    for (const untilMs = readMs() + 200; readMs() < untilMs; );
  });
  deadline.check();
  assert.ok(deadline.usedMs < 100, `${deadline.usedMs} ms`);
  assert.equal(exhaust(deadline).limitMs, 100);
});

/** Waits without the processor, then works for `workMs` of this thread's time. */
function createWork(waitMs: number, workMs: number): () => string {
  let waitsLeft = 1;
  return () => {
    if (waitsLeft-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    const untilMs = readMs() + workMs;
    while (readMs() < untilMs);
    return "done";
  };
}

const onlyClock = thread.readMs() === undefined && "the system does not report a thread's time";

test("a precompile that was ended by the clock alone runs again, and one that used its time does not", {
  skip: onlyClock,
}, () => {
  // Short work, so that a machine which is busy besides finishes it in the time by the clock.
  const [limitMs, workMs] = [500, 5];
  const deadline = new Deadline(limitMs);
  deadline.start();
  assert.equal(deadline.run(createWork(limitMs, workMs)), "done");
  deadline.start();
  for (const usedMs = readMs() + limitMs / 2; readMs() < usedMs; );
  assert.throws(
    () => deadline.run(createWork(0, 100 * limitMs)),
    (error: unknown) => error instanceof TimeLimitError && error.gotMs >= limitMs,
  );
  deadline.start({ms: limitMs, clockMs: limitMs});
  assert.throws(() => deadline.run(createWork(limitMs, workMs)), TimeLimitError);
});

function takeFigures({limitMs, hasMore}: TimeLimitError): [number, boolean] {
  return [limitMs, hasMore];
}

test("a slice ends a call before the whole limit, and never extends it; what slices before took counts", () => {
  const wholeMs = 50;
  const deadline = new Deadline(wholeMs);
  deadline.start({ms: 10, clockMs: 40});
  assert.equal(exhaust(deadline).limitMs, 10);
  deadline.start({ms: 10 * wholeMs, clockMs: 100 * wholeMs});
  assert.equal(exhaust(deadline).limitMs, wholeMs);
  const earlierMs = wholeMs - 20;
  deadline.start({ms: 5, clockMs: 100 * wholeMs}, earlierMs);
  assert.deepEqual(takeFigures(exhaust(deadline)), [5, true]);
  assert.ok(deadline.usedMs >= earlierMs + 5 && deadline.usedMs < wholeMs);
  for (const slice of [{ms: 25, clockMs: 100 * wholeMs}, undefined]) {
    deadline.start(slice, earlierMs);
    const error = exhaust(deadline);
    assert.deepEqual(takeFigures(error), [wholeMs, false]);
    assert.ok(error.gotMs >= wholeMs);
  }
});
