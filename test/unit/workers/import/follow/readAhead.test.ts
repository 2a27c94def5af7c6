import assert from "node:assert/strict";
import {test} from "node:test";
import type {NodeBlock} from "../../../../../nodes/blocks/blockReader.ts";
import {type ReadRange, readAhead} from "../../../../../workers/import/follow/readAhead.ts";

const NEVER = new AbortController().signal;
const MAX_BLOCKS = 64;
const BOUND_BYTES = 32 << 20;
const RANGES = 4;

function blockOf(number: number, bytes: number): NodeBlock {
  const hash = new Uint8Array(32);
  const difference = () => Promise.reject(new Error("not executed"));
  return {number, hash, parentHash: hash, origin: "", bytes, difference};
}

function blocksOf(from: number, to: number, bytes = 1000): NodeBlock[] {
  return Array.from({length: to - from + 1}, (_, at) => blockOf(from + at, bytes));
}

async function numbersOf(blocks: AsyncIterable<NodeBlock>): Promise<number[]> {
  const numbers: number[] = [];
  for await (const {number} of blocks) numbers.push(number);
  return numbers;
}

function range(from: number, to: number): number[] {
  return Array.from({length: to - from + 1}, (_, at) => from + at);
}

test("blocks come in order, whichever range is read first", async () => {
  const waiting: (() => void)[] = [];
  const read: ReadRange = (from, to) =>
    new Promise(resolve => {
      waiting.push(() => resolve(blocksOf(from, to)));
      // The newest first, once all that may be under way are; the last ranges are fewer.
      setImmediate(() => waiting.pop()?.());
    });
  assert.deepEqual(
    await numbersOf(readAhead(read, {maxBlocks: MAX_BLOCKS, from: 5, to: 700}, NEVER)),
    range(5, 700),
  );
});

for (const [title, bytes, total] of [
  ["small", 500, 3000],
  ["of 1 MB", 1 << 20, 400],
  ["of 40 MB", 40 << 20, 20],
] as const)
  test(`while thousands of blocks are caught up, those held stay within the bound: ${title} blocks`, async () => {
    let asked = 0;
    let taken = 0;
    let most = 0;
    let underWay = 0;
    const read: ReadRange = async (from, to) => {
      underWay++;
      asked = to;
      assert.ok(underWay <= RANGES, `${underWay} ranges under way`);
      assert.ok(to - from < MAX_BLOCKS);
      most = Math.max(most, asked - taken);
      await new Promise(setImmediate);
      underWay--;
      return blocksOf(from, to, bytes);
    };
    for await (const {number} of readAhead(read, {maxBlocks: MAX_BLOCKS, from: 1, to: total}, NEVER)) {
      taken = number;
      // The first ranges are begun before the size of blocks is known: 4 of 4 blocks.
      const held = (asked - taken) * bytes;
      if (number > 16)
        assert.ok(held <= BOUND_BYTES + Math.max(2 << 20, bytes), `${held} bytes held at ${number}`);
    }
    assert.equal(taken, total);
    // Four ranges ahead, and what is left of the one that is taken.
    assert.ok(most <= (RANGES + 1) * MAX_BLOCKS, `${most} blocks`);
  });

test("a later range that fails is told when its turn comes, after all blocks before it", async () => {
  const numbers: number[] = [];
  const read: ReadRange = async (from, to) => {
    if (from > 8) throw new Error("the node is gone");
    return blocksOf(from, to);
  };
  await assert.rejects(async () => {
    for await (const {number} of readAhead(read, {maxBlocks: 4, from: 1, to: 40}, NEVER)) {
      numbers.push(number);
      await new Promise(setImmediate);
    }
  }, /the node is gone/);
  assert.deepEqual(numbers, range(1, 8));
});

test("a range that the node does not have whole ends the reading, and the ranges after it are given up", async () => {
  const given = new Set<number>();
  const read: ReadRange = (from, to, signal) => {
    if (from === 1) return Promise.resolve(blocksOf(1, 2));
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        given.add(from);
        reject(signal.reason);
      });
      assert.ok(to <= 40);
    });
  };
  assert.deepEqual(await numbersOf(readAhead(read, {maxBlocks: 4, from: 1, to: 40}, NEVER)), [1, 2]);
  assert.deepEqual(given, new Set([5, 9, 13]));
});

test("the signal of the caller reaches every range, also one that came before", async () => {
  const ending = new AbortController();
  ending.abort(new Error("stopped"));
  const read: ReadRange = async (_from, _to, signal) => {
    signal.throwIfAborted();
    return [];
  };
  await assert.rejects(
    numbersOf(readAhead(read, {maxBlocks: MAX_BLOCKS, from: 1, to: 40}, ending.signal)),
    /stopped/,
  );
});

/** Answers come in four parts. While a block is read, they are held. */
class LongAnswers {
  /** Those of ranges under way. */
  held = 0;
  most = 0;
  ranges = 0;
  givenUp = 0;
  private readonly bytesOf: (block: number) => number;

  constructor(bytesOf: (block: number) => number) {
    this.bytesOf = bytesOf;
  }

  readonly read: ReadRange = async (from, to, signal, answers) => {
    this.ranges++;
    let own = 0;
    try {
      answers.begin();
      for (let block = from; block <= to; block++)
        for (let part = 0; part < 4; part++) {
          const bytes = this.bytesOf(block) / 4;
          own += bytes;
          this.held += bytes;
          answers.add(bytes);
          if (!signal.aborted) this.most = Math.max(this.most, this.held);
          await new Promise(setImmediate);
          signal.throwIfAborted();
        }
      return blocksOf(from, to);
    } catch (error) {
      this.givenUp++;
      throw error;
    } finally {
      this.held -= own;
    }
  };
}

test("answers under way stay within their bound, and ranges that were given up for it are read again", async () => {
  const long = new LongAnswers(block => (block > 30 ? 400 : 1));
  const blocks = readAhead(long.read, {maxBlocks: 4, from: 1, to: 90, answerBytes: 2000}, NEVER);
  assert.deepEqual(await numbersOf(blocks), range(1, 90));
  // What is given up ends at its next step: one part of each of the other ranges.
  assert.ok(long.most <= 2000 + (RANGES - 1) * 100, `${long.most} bytes`);
  assert.ok(long.givenUp > 0 && long.givenUp <= 2 * RANGES, `${long.givenUp} given up`);
});

test("one range is read although its answers are longer than the bound", async () => {
  const long = new LongAnswers(() => 5000);
  assert.deepEqual(
    await numbersOf(readAhead(long.read, {maxBlocks: 1, from: 1, to: 12, answerBytes: 2000}, NEVER)),
    range(1, 12),
  );
  assert.ok(long.most <= 5000 + (RANGES - 1) * 1250, `${long.most} bytes`);
});

test("answers of an attempt that failed do not count", async () => {
  let attempts = 0;
  const read: ReadRange = async (from, to, signal, answers) => {
    for (let attempt = 0; attempt < 5; attempt++) {
      answers.begin();
      answers.add(400);
      attempts++;
    }
    await new Promise(setImmediate);
    signal.throwIfAborted();
    return blocksOf(from, to);
  };
  assert.deepEqual(
    await numbersOf(readAhead(read, {maxBlocks: 4, from: 1, to: 16, answerBytes: 2000}, NEVER)),
    range(1, 16),
  );
  assert.equal(attempts, 20);
});
