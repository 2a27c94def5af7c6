/** How often /metrics is made, with a clock that moves only when the test says so. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {setImmediate as turn} from "node:timers/promises";
import {Scrapes} from "../../../../server/observe/scrapes.ts";

test("reads share the next computation, which begins after them and takes a fiftieth of the time", async t => {
  let nowMs = 1000;
  t.mock.method(performance, "now", () => nowMs);
  t.mock.timers.enable({apis: ["setTimeout"]});
  let made = 0;
  let isSlow = false;
  const scrapes = new Scrapes(async () => {
    nowMs += isSlow ? 500 : 10;
    return ++made;
  });
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await turn();
  };
  const first = [scrapes.read(), scrapes.read()];
  assert.equal(made, 0);
  await pass(1);
  assert.deepEqual(await Promise.all(first), [1, 1]);
  const second = [scrapes.read(), scrapes.read()];
  await pass(499);
  assert.equal(made, 1);
  second.push(scrapes.read());
  await pass(1);
  assert.deepEqual(await Promise.all(second), [2, 2, 2]);
  isSlow = true;
  const third = scrapes.read();
  await pass(500);
  assert.equal(await third, 3);
  const last = scrapes.read();
  await pass(999);
  assert.equal(made, 3);
  await pass(1);
  assert.equal(await last, 4, "no read waits for more than a second");
});

test("a computation that fails fails its reads only", async () => {
  let made = 0;
  const scrapes = new Scrapes(async () => {
    if (made++ === 0) throw new Error("no figure");
    return made;
  });
  await assert.rejects(Promise.all([scrapes.read(), scrapes.read()]), /no figure/);
  assert.equal(await scrapes.read(), 2);
});
