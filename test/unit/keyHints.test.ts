/** Where keys were last seen: what is noted is found, nothing else is, and a table never grows. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {KeyHints, NO_HINT, saltOf} from "../../storage/index/keyHints.ts";
import {bucketEntries, encodeBucket} from "../../storage/page/indexPage.ts";

const MAX_LEAF_INDEX = 2 ** 40 - 1;

function hKeyOf(name: string): Buffer {
  return createHash("sha256").update(name).digest();
}

function bucketOf(leaves: readonly (readonly [Buffer, number])[]): Buffer {
  const entries = leaves.map(([hKey, leafIndex]) => {
    const index = Buffer.alloc(5);
    index.writeUIntBE(leafIndex, 0, 5);
    return Buffer.concat([hKey, index]);
  });
  return bucketEntries(encodeBucket(Buffer.concat(entries), 0));
}

test("every key of a noted bucket is found, with leaf indexes of 40 bits", () => {
  const hints = new KeyHints(1 << 20);
  const leaves = [2, 77, MAX_LEAF_INDEX].map(index => [hKeyOf(`${index}`), index] as const);
  hints.noteBucket(bucketOf(leaves), 5);
  for (const [hKey, leafIndex] of leaves) assert.equal(hints.find(hKey, 5), leafIndex);
});

test("the same key in another account's slots has a hint of its own", () => {
  const hints = new KeyHints(1 << 20);
  const slot = hKeyOf("slot 0");
  const [one, other] = [saltOf(hKeyOf("one")), saltOf(hKeyOf("other"))];
  hints.noteBucket(bucketOf([[slot, 10]]), one);
  assert.equal(hints.find(slot, other), NO_HINT);
  hints.noteBucket(bucketOf([[slot, 20]]), other);
  assert.deepEqual([hints.find(slot, one), hints.find(slot, other)], [10, 20]);
});

test("of keys that were not noted, fewer than one in a thousand has a hint", () => {
  const hints = new KeyHints(1 << 13);
  for (let i = 0; i < 8192; i++) hints.noteBucket(bucketOf([[hKeyOf(`noted ${i}`), i + 2]]), 0);
  let wrong = 0;
  for (let i = 0; i < 20_000; i++) if (hints.find(hKeyOf(`unknown ${i}`), 0) !== NO_HINT) wrong++;
  assert.ok(wrong < 20, `${wrong} of 20 000`);
});

test("a later note takes the place of an earlier one", () => {
  const hints = new KeyHints(8);
  const [one, other] = [hKeyOf("one"), hKeyOf("other")];
  hints.noteBucket(bucketOf([[one, 3]]), 0);
  hints.noteBucket(bucketOf([[other, 4]]), 0);
  assert.deepEqual([hints.find(one, 0), hints.find(other, 0)], [NO_HINT, 4]);
});

test("without memory for it there are no hints, and no errors", () => {
  const hints = new KeyHints(0);
  assert.equal(hints.find(hKeyOf("key"), 0), NO_HINT);
  hints.noteBucket(bucketOf([[hKeyOf("key"), 9]]), 0);
  assert.ok([NO_HINT, 9].includes(hints.find(hKeyOf("key"), 0)));
});
