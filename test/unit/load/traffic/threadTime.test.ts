/** What a thread of the generator says of its time. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {ThreadTime} from "../../../../load/traffic/threadTime.ts";

const WORK_US = 30_000;

test("a thread that never sleeps was busy all the time, with a core or without one", () => {
  const time = new ThreadTime();
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user + process.cpuUsage(before).system < WORK_US);
  const {busy, starved} = time.read();
  assert.ok(busy > 0.9, `busy ${busy}`);
  assert.ok(starved <= busy, `starved ${starved}`);
});
