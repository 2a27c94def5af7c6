/** What --blocks says, and which blocks that is on a server. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {
  type BlockChoice,
  parseBlockChoice,
  resolveBlocks,
} from "../../../../../bench/load/requests/blockChoice.ts";

test("a choice is the tag, a block, or a range of two ends", () => {
  const table: [string, BlockChoice | undefined][] = [
    ["latest", "latest"],
    ["7", {from: 7, to: 7}],
    ["0x1F", {from: 31, to: 31}],
    ["oldest", {from: "oldest", to: "oldest"}],
    ["latest..oldest", {from: "latest", to: "oldest"}],
    ["5..latest", {from: 5, to: "latest"}],
    ["0x0..10", {from: 0, to: 10}],
    ["", undefined],
    ["newest", undefined],
    ["1..2..3", undefined],
    ["1..", undefined],
    ["..", undefined],
    ["-1", undefined],
    ["0x", undefined],
    ["281474976710656", undefined],
  ];
  for (const [text, choice] of table) assert.deepEqual(parseBlockChoice(text), choice, text);
});

test("a range is the same from either end, and an end that the server does not say is named", () => {
  assert.deepEqual(resolveBlocks({from: "latest", to: "oldest"}, 3, 9), {low: 3, high: 9});
  assert.deepEqual(resolveBlocks({from: 4, to: "latest"}, undefined, 9), {low: 4, high: 9});
  assert.deepEqual(resolveBlocks({from: 12, to: 10}, undefined, undefined), {low: 10, high: 12});
  assert.equal(resolveBlocks({from: "latest", to: "oldest"}, undefined, 9), "oldest");
  assert.equal(resolveBlocks({from: "latest", to: 0}, 3, undefined), "latest");
});
