/** Where keys were last seen: what is noted is found, nothing else is, and a table never grows. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {encodeBucket} from "../../../../storage/page/indexPage.ts";
import {KeyHints, NO_HINT, saltOf} from "../../../../storage/tree/keyHints.ts";

const MAX_LEAF_INDEX = 2 ** 40 - 1;

function hKeyOf(name: string): Buffer {
  return createHash("sha256").update(name).digest();
}

function bucketOf(leaves: readonly (readonly [Buffer, number])[]): Buffer {
  const entries = leaves.map(([hKey, leafIndex]) => ({hKey, leafIndex}));
  return encodeBucket(entries, 6, 0);
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

test("a table half full has lost fewer than one key in twenty", () => {
  const hints = new KeyHints(1 << 16);
  const keys = Array.from({length: 4096}, (_, i) => hKeyOf(`noted ${i}`));
  for (const [i, hKey] of keys.entries()) hints.noteBucket(bucketOf([[hKey, i + 2]]), 0);
  const lost = keys.filter((hKey, i) => hints.find(hKey, 0) !== i + 2).length;
  assert.ok(lost < 205, `${lost} of 4 096`);
});

test("of keys that were not noted, fewer than one in five hundred has a hint, in a table that is full", () => {
  const hints = new KeyHints(1 << 13);
  for (let i = 0; i < 8192; i++) hints.noteBucket(bucketOf([[hKeyOf(`noted ${i}`), i + 2]]), 0);
  let wrong = 0;
  for (let i = 0; i < 20_000; i++) if (hints.find(hKeyOf(`unknown ${i}`), 0) !== NO_HINT) wrong++;
  assert.ok(wrong < 40, `${wrong} of 20 000`);
});

test("a key that is noted again has its last place, also after others that share its place in the table", () => {
  const hints = new KeyHints(32);
  const keys = ["one", "two", "three", "four"].map(hKeyOf);
  for (const [i, hKey] of keys.entries()) hints.noteBucket(bucketOf([[hKey, i + 2]]), 0);
  hints.noteBucket(bucketOf([[keys[1] as Buffer, 9]]), 0);
  assert.deepEqual(
    keys.map(hKey => hints.find(hKey, 0)),
    [2, 9, 4, 5],
  );
});

test("in a full place a later note takes an earlier one's", () => {
  const hints = new KeyHints(32);
  const keys = Array.from({length: 20}, (_, i) => hKeyOf(`${i}`));
  for (const [i, hKey] of keys.entries()) hints.noteBucket(bucketOf([[hKey, i + 2]]), 0);
  assert.equal(hints.find(keys.at(-1) as Buffer, 0), 21);
  assert.equal(keys.filter((hKey, i) => hints.find(hKey, 0) === i + 2).length, 4);
});

test("without memory for it there are no hints, and no errors", () => {
  const hints = new KeyHints(0);
  assert.equal(hints.find(hKeyOf("key"), 0), NO_HINT);
  hints.noteBucket(bucketOf([[hKeyOf("key"), 9]]), 0);
  assert.ok([NO_HINT, 9].includes(hints.find(hKeyOf("key"), 0)));
});
