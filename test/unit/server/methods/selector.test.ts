import assert from "node:assert/strict";
import {test} from "node:test";
import {
  type BlockView,
  MAX_BLOCKS_AHEAD,
  resolveSelector,
  type SelectorColumn,
} from "../../../../server/methods/selector.ts";
import {AheadError, RpcCode, RpcError} from "../../../../server/rpc/rpcError.ts";
import {PrunedBlocks} from "../../../../storage/prune/prunedBlocks.ts";

const HASH = `0x${"aB".repeat(32)}`;

function createView(earliest?: number, finalized?: number, latest?: number): BlockView {
  return {
    head: {earliest, finalized, latest},
    chain: {
      pruned: new PrunedBlocks(),
      findBlock: hash => (Buffer.from(hash).toString("hex") === "ab".repeat(32) ? 7 : undefined),
    },
  };
}

const VIEW = createView(2, 7, 9);

function resolve(selector: unknown, column: SelectorColumn, view = VIEW): number {
  return resolveSelector(selector, "params[2] (block)", column, view);
}

function refusal(selector: unknown, column: SelectorColumn, view = VIEW): RpcError {
  try {
    resolve(selector, column, view);
  } catch (error) {
    assert.ok(error instanceof RpcError);
    return error;
  }
  return assert.fail(`${JSON.stringify(selector)} was accepted`);
}

test("a block before coverage, above the newest one in the store or with an unknown hash is -32001", () => {
  const unknown = `0x${"00".repeat(32)}`;
  for (const selector of [
    "0x1",
    "0xa",
    `0x${"f".repeat(63)}`,
    `0x${"0".repeat(63)}3`,
    {blockHash: unknown},
    {blockNumber: "0xffff"},
  ]) {
    for (const column of ["provable", "stored"] as const) {
      const error = refusal(selector, column);
      assert.equal(error.code, RpcCode.BLOCK_UNKNOWN);
      assert.deepEqual(error.data, {earliest: "0x2", finalized: "0x7"});
    }
  }
});

test("a block that came after the request's head is unknown to it, by hash too", () => {
  for (const selector of [HASH, {blockHash: HASH}]) {
    const error = refusal(selector, "stored", createView(2, 3, 6));
    assert.equal(error.code, RpcCode.BLOCK_UNKNOWN);
    assert.ok(error instanceof AheadError);
  }
});

test("a hash is bare or in an object, a tag too, and null means that a field is left out", () => {
  const table: [unknown, number][] = [
    [HASH, 7],
    [HASH.toUpperCase().replace("X", "x"), 7],
    [{blockHash: HASH}, 7],
    [{blockHash: HASH, blockNumber: null, requireCanonical: null}, 7],
    [{blockHash: null, blockNumber: "0x3"}, 3],
    [{blockNumber: "0x3", requireCanonical: true}, 3],
    [{blockNumber: "earliest"}, 2],
    [{blockNumber: "safe"}, 7],
    [{blockNumber: "latest", blockHash: null}, 9],
  ];
  for (const [selector, block] of table)
    assert.equal(resolve(selector, "stored"), block, JSON.stringify(selector));
  assert.equal(resolve({blockNumber: "latest"}, "provable"), 7);
});

test("without a finalized block tags are -32002 with null, in an empty store -32001 with nulls", () => {
  for (const tag of ["latest", "pending", "safe", "finalized", "earliest"]) {
    const unfinalized = refusal(tag, "provable", createView(0, undefined, 4));
    assert.equal(unfinalized.code, RpcCode.NOT_FINALIZED, tag);
    assert.deepEqual(unfinalized.data, {finalized: null});
    const empty = refusal(tag, "provable", createView());
    assert.equal(empty.code, RpcCode.BLOCK_UNKNOWN, tag);
    assert.deepEqual(empty.data, {earliest: null, finalized: null});
  }
});

test("anything else is -32602 and names the parameter and what came", () => {
  const table: [unknown, RegExp][] = [
    ["newest", /^params\[2\] \(block\): expected.*, got "newest"/],
    ["", /expected.*, got ""/],
    ["5", /expected.*, got "5"/],
    [5, /expected.*, got 5/],
    [true, /, got true/],
    [undefined, /, got nothing/],
    [["0x1"], /, got an array of 1/],
    [{}, /: expected blockNumber or blockHash, got neither/],
    [{blockNumber: "0x1", blockHash: HASH}, /: expected blockNumber or blockHash, got both/],
    [{blockNumber: null, blockHash: null}, /: expected blockNumber or blockHash, got neither/],
    [`0x${"zz".repeat(32)}`, /^params\[2\] \(block\): expected .*, got "0xzz/],
    [{blockNumber: HASH}, /\.blockNumber: expected.*, got "0xaB/],
    [{blockNumber: "newest"}, /\.blockNumber: expected.*, got "newest"/],
    [{blockNumber: 5}, /^params\[2\] \(block\)\.blockNumber: expected.*, got 5/],
    [{blockHash: "0x12"}, /\.blockHash: expected.*, got "0x12"/],
    [{blockHash: `0x${"zz".repeat(32)}`}, /\.blockHash: expected .*, got "0xzz/],
    [{blockNumber: "0x3", requireCanonical: "yes"}, /\.requireCanonical: expected true or false, got "yes"/],
    [JSON.parse('{"__proto__":{"blockNumber":"0x3"}}'), /, got neither/],
  ];
  for (const [selector, message] of table) {
    const error = refusal(selector, "provable");
    assert.equal(error.code, RpcCode.INVALID_PARAMS);
    assert.match(error.message, message);
    assert.ok(error.message.length < 300);
  }
});

test("a block above the newest one is ahead up to a bound, and unknown beyond it", () => {
  const isAhead = (block: number) => refusal(`0x${block.toString(16)}`, "stored") instanceof AheadError;
  assert.deepEqual([10, 9 + MAX_BLOCKS_AHEAD, 10 + MAX_BLOCKS_AHEAD].map(isAhead), [true, true, false]);
});
