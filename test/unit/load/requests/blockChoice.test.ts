/** Which blocks --blocks means on a server. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {resolveBlocks} from "../../../../load/requests/blockChoice.ts";

test("a range is the same from either end, and an end that the server does not say is named", () => {
  assert.deepEqual(resolveBlocks({from: "latest", to: "oldest"}, 3, 9), {low: 3, high: 9});
  assert.deepEqual(resolveBlocks({from: 4, to: "latest"}, undefined, 9), {low: 4, high: 9});
  assert.deepEqual(resolveBlocks({from: 12, to: 10}, undefined, undefined), {low: 10, high: 12});
  assert.equal(resolveBlocks({from: "latest", to: "oldest"}, undefined, 9), "oldest");
  assert.equal(resolveBlocks({from: "latest", to: 0}, 3, undefined), "latest");
});
