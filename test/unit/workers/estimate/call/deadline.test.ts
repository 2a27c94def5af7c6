/** The time limit of a call, on the processor time of this thread. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {Deadline, TimeLimitError} from "../../../../../workers/estimate/call/deadline.ts";
import {Turns} from "../../../../../workers/estimate/turns.ts";
import {MAX_STRETCH} from "../../../../../workers/messages/estimateSlice.ts";
import {ThreadClock} from "../../../../../workers/threads/threadClock.ts";

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

test("a call passes when its turn is over, and does not pay for the turns of others", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const [limitMs, otherMs] = [200, 300];
  const deadline = new Deadline(limitMs, turns);
  const work = (ms: number) => {
    for (const untilMs = readMs() + ms; readMs() < untilMs; );
  };
  await Promise.all([
    turns.take(async () => {
      const [startMs, startThreadMs] = [performance.now(), readMs()];
      deadline.start();
      let turn = deadline.pause();
      for (; turn === undefined; turn = deadline.pause()) work(1);
      order.push("first");
      const isLate = () => performance.now() - startMs >= MAX_STRETCH * limitMs;
      await turn.catch((error: unknown) => assert.ok(isLate(), String(error)));
      order.push("first again");
      exhaust(deadline);
      const ownMs = readMs() - startThreadMs - otherMs;
      const isStarved = isLate();
      assert.ok((ownMs >= limitMs && ownMs < 2 * limitMs) || isStarved, `${ownMs} ms`);
    }),
    turns.take(async () => {
      order.push("second");
      work(otherMs);
    }),
  ]);
  assert.deepEqual(order, ["first", "second", "first again"]);
});

test("a call with a slice keeps its turn to the end of the slice", async () => {
  const turns = new Turns();
  const deadline = new Deadline(15_000, turns);
  await turns.take(async () => {
    deadline.start({ms: 100, clockMs: 15_000});
    assert.throws(() => {
      for (;;) assert.equal(deadline.pause(), undefined);
    }, TimeLimitError);
  });
});

test("by the clock a call has four times its limit, in which the turns of others count", async () => {
  const turns = new Turns();
  const limitMs = 50;
  const deadline = new Deadline(limitMs, turns);
  await Promise.all([
    turns.take(async () => {
      deadline.start();
      const work = async (): Promise<void> => {
        for (;;) await deadline.pause();
      };
      await assert.rejects(work, (error: unknown) => {
        assert.ok(error instanceof TimeLimitError && !error.hasMore);
        assert.ok(error.gotMs >= MAX_STRETCH * limitMs, `${error.gotMs} ms`);
        return true;
      });
    }),
    turns.take(async () => {
      for (const untilMs = performance.now() + MAX_STRETCH * limitMs; performance.now() < untilMs; );
    }),
  ]);
});

test("a slice ends before a long part, and a whole call goes on", async () => {
  const turns = new Turns();
  const deadline = new Deadline(15_000, turns);
  await turns.take(async () => {
    deadline.start({ms: 10_000, clockMs: 10_000});
    assert.equal(deadline.pause("short"), undefined);
    assert.throws(
      () => deadline.pause("long"),
      (error: unknown) => error instanceof TimeLimitError && error.hasMore,
    );
    deadline.start();
    await deadline.pause("long");
  });
});

function takeFigures({limitMs, hasMore}: TimeLimitError): [number, boolean] {
  return [limitMs, hasMore];
}

test("a slice ends a call before the whole limit, and never extends it", () => {
  // A machine that gives the thread no time must not end the whole limit meanwhile.
  const long = new Deadline(15_000);
  long.start({ms: 10, clockMs: 40});
  assert.deepEqual(takeFigures(exhaust(long)), [10, true]);
  const wholeMs = 50;
  const deadline = new Deadline(wholeMs);
  for (const slice of [{ms: 10 * wholeMs, clockMs: 100 * wholeMs}, undefined]) {
    deadline.start(slice);
    const error = exhaust(deadline);
    assert.deepEqual(takeFigures(error), [wholeMs, false]);
    assert.ok(error.gotMs >= wholeMs);
  }
});
