import assert from "node:assert/strict";
import {test} from "node:test";
import {retryWaitMs} from "../../../../client/rpc/retryWaits.ts";

const SETTINGS = {times: 4, firstMs: 100, longestMs: 300};

test("each wait is between half and the whole of a step, which doubles up to the longest", () => {
  for (const [tries, stepMs] of [
    [1, 100],
    [2, 200],
    [3, 300],
    [4, 300],
  ] as const)
    for (let i = 0; i < 50; i++) {
      const waitMs = retryWaitMs(SETTINGS, tries) as number;
      assert.ok(waitMs >= stepMs / 2 && waitMs <= stepMs, `${tries}: ${waitMs}`);
    }
  assert.equal(retryWaitMs(SETTINGS, 5), undefined);
});

test("no wait is shorter than what the server asks for, and one that is too long ends the tries", () => {
  assert.equal(retryWaitMs(SETTINGS, 1, 250), 250);
  assert.equal(retryWaitMs(SETTINGS, 1, 301), undefined);
});
