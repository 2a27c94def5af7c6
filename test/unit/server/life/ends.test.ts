/** In which order parts end, and what is said when one does not. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {Ends} from "../../../../server/life/ends.ts";

test("parts end one after the other, the last one first", async () => {
  const ended: string[] = [];
  const ends = new Ends();
  for (const name of ["a", "b", "c"])
    ends.add(name, async () => {
      await new Promise(setImmediate);
      ended.push(name);
    });
  await ends.run(60_000);
  assert.deepEqual(ended, ["c", "b", "a"]);
});

test("a part that does not end in time is named, by what it waits for, with those that come after it", async () => {
  const ends = new Ends();
  let end = (): void => {};
  ends.add("the store", () => Promise.resolve());
  ends.add("threads", onWait => {
    onWait("proof threads");
    return new Promise(resolve => {
      end = resolve;
    });
  });
  ends.add("requests", () => Promise.resolve());
  await assert.rejects(ends.run(1), {
    name: "WorkError",
    message: "expected an end within 1 ms; still open: proof threads, the store",
  });
  end();
  await ends.run(60_000);
});
