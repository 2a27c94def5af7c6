import assert from "node:assert/strict";
import {test} from "node:test";
import {readOn} from "../../../../nodes/files/readOn.ts";

const MOST_BLOCKS = 32;

interface Block {
  readonly bytes: Uint8Array;
  readonly number: number;
}

async function* blocksOf(count: number, length: number): AsyncGenerator<Block, void> {
  for (let number = 0; number < count; number++) yield {number, bytes: new Uint8Array(length)};
}

test("blocks come in order, and are read while those before them are taken, up to a bound", async () => {
  for (const [length, most] of [
    [100, MOST_BLOCKS],
    [64 << 10, 4],
    [1 << 20, 1],
  ] as const) {
    let read = 0;
    let taken = 0;
    let furthest = 0;
    for await (const {number} of readOn(blocksOf(100, length), () => read++)) {
      assert.equal(number, taken++);
      for (let turns = 0; turns < MOST_BLOCKS; turns++) await new Promise(setImmediate);
      furthest = Math.max(furthest, read - taken);
    }
    assert.equal(taken, 100);
    assert.equal(furthest, most);
  }
});

test("a block comes as soon as it is there, though the one after it does not", async () => {
  const source = (async function* (): AsyncGenerator<Block, void> {
    yield* blocksOf(2, 10);
    await new Promise(() => {});
  })();
  const blocks = readOn(source, () => {});
  assert.equal((await blocks.next()).value?.number, 0);
  assert.equal((await blocks.next()).value?.number, 1);
  // And whoever takes no more of them does not wait for it.
  await blocks.return(undefined);
});

test("an error comes after the blocks before it", async () => {
  const source = (async function* (): AsyncGenerator<Block, void> {
    yield* blocksOf(3, 10);
    throw new Error("cut short");
  })();
  const numbers: number[] = [];
  await assert.rejects(async () => {
    for await (const {number} of readOn(source, () => {})) numbers.push(number);
  }, /^Error: cut short$/);
  assert.deepEqual(numbers, [0, 1, 2]);
});
