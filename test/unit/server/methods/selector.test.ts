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

test("a block before coverage, above the newest held or with an unknown hash is -32001", () => {
  const unknown = `0x${"00".repeat(32)}`;
  for (const selector of [
    "0x1",
    "0xa",
    `0x${"f".repeat(64)}`,
    {blockHash: unknown},
    {blockNumber: "0xffff"},
  ]) {
    for (const column of ["provable", "held"] as const) {
      const error = refusal(selector, column);
      assert.equal(error.code, RpcCode.BLOCK_UNKNOWN);
      assert.deepEqual(error.data, {earliest: "0x2", finalized: "0x7"});
    }
  }
});

test("a block that came after the request's head is unknown to it, by hash too", () => {
  const error = refusal({blockHash: HASH}, "held", createView(2, 3, 6));
  assert.equal(error.code, RpcCode.BLOCK_UNKNOWN);
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
  const isAhead = (block: number) => refusal(`0x${block.toString(16)}`, "held") instanceof AheadError;
  assert.deepEqual([10, 9 + MAX_BLOCKS_AHEAD, 10 + MAX_BLOCKS_AHEAD].map(isAhead), [true, true, false]);
});
