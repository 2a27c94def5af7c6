import assert from "node:assert/strict";
import {test} from "node:test";
import {CollectionLog} from "../../../../bench/service/collections.ts";

test("pauses and garbage are counted for each thread, however the lines are cut", () => {
  const log = new CollectionLog();
  const before = `[7:0xa0]     900 ms: Scavenge 10.0 (20.0) -> 8.0 (20.0) MB, 1.5 / 0.0 ms  (average mu = 1.000) allocation failure;
[7:0xb0]     950 ms: Scavenge 5.0 (9.0) -> 4.0 (9.0) MB, 0.3 / 0.0 ms  (average mu = 1.000) allocation failure;
`;
  log.read(before);
  log.restart();
  const lines = `{"level":30}
[7:0xa0]    1900 ms: Scavenge 18.0 (20.0) -> 9.0 (20.0) MB, 2.5 / 0.0 ms  (average mu = 1.000) task;
[7:0xa0]    2900 ms: Mark-Compact (reduce) 19.0 (21.0) -> 6.5 (20.0) MB, 4.5 / 0.1 ms  (+ 3.1 ms in 9 steps) finalize;
`;
  for (const character of lines) log.read(character);
  const [main, other] = log.list();
  assert.deepEqual([main?.scavengesMs, main?.markCompactsMs], [[2.5], [4.5]]);
  assert.equal(main?.garbagePerSecond, 10 * 2 ** 20);
  assert.deepEqual([other?.scavengesMs, other?.garbagePerSecond], [[], 0]);
});
