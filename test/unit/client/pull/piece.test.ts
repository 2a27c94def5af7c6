import assert from "node:assert/strict";
import {test} from "node:test";
import type {ProofRequest} from "../../../../client/proof/request.ts";
import {divideRequests} from "../../../../client/pull/piece.ts";
import type {ProofsPlace} from "../../../../client/pull/places.ts";

const KEY_COUNTS = [0, 3, 12, 0, 1, 5, 0, 0, 2];
const SOURCE: readonly ProofRequest[] = KEY_COUNTS.map((count, at) => {
  const storageKeys = Array.from({length: count}, (_, key) => `0x${key + 1}`);
  return {address: `0x${at}`, storageKeys};
});
const BEGINNING: ProofsPlace = {block: 7n, entry: 0, key: 0};

async function collect(maxKeys: number, start = BEGINNING, source = SOURCE) {
  const pieces = [];
  for await (const piece of divideRequests(source, start, maxKeys)) pieces.push(piece);
  return pieces;
}

/** Every address and every key with its address, in order. An entry in two parts names its address once. */
function spellOut(entries: readonly ProofRequest[]): string[] {
  const words = entries.flatMap(({address, storageKeys}) => [
    address,
    ...storageKeys.map(key => `${address} ${key}`),
  ]);
  return words.filter((one, at) => words.indexOf(one) === at);
}

test("pieces have every entry and key once, in order, and no more keys than they may", async () => {
  for (const maxKeys of [2, 3, 4, 5, 7, 100]) {
    const pieces = await collect(maxKeys);
    assert.deepEqual(spellOut(pieces.flatMap(({entries}) => entries)), spellOut(SOURCE));
    for (const {entries} of pieces) {
      const keys = entries.reduce((sum, {storageKeys}) => sum + 1 + storageKeys.length, 0);
      assert.ok(keys <= maxKeys && entries.length > 0, `${keys} of ${maxKeys}`);
    }
  }
});

test("only an entry that is too long for a whole piece is divided", async () => {
  const pieces = await collect(7);
  const lengths = pieces.map(({entries}) => entries.map(({storageKeys}) => storageKeys.length));
  assert.deepEqual(lengths, [[0, 3], [6], [6], [0, 1], [5, 0], [0, 2]]);
});

test("a place that a source does not have is a TypeError, and its end is none", async () => {
  const end = {block: 7n, entry: KEY_COUNTS.length, key: 0};
  assert.deepEqual(await collect(5, end), []);
  for (const place of [
    {...end, entry: KEY_COUNTS.length + 1},
    {...end, key: 1},
    {...end, entry: 1, key: 4},
  ])
    await assert.rejects(collect(5, place), TypeError);
});
