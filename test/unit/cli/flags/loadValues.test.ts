/** What --blocks says. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {BlockChoice} from "proofd-load";
import {parseBlocks} from "../../../../cli/flags/loadValues.ts";

test("a choice is the tag, a block, or a range of two ends", () => {
  const table: [string, BlockChoice][] = [
    ["latest", "latest"],
    ["7", {from: 7, to: 7}],
    ["0x1F", {from: 31, to: 31}],
    ["oldest", {from: "oldest", to: "oldest"}],
    ["latest..oldest", {from: "latest", to: "oldest"}],
    ["5..latest", {from: 5, to: "latest"}],
    ["0x0..10", {from: 0, to: 10}],
  ];
  for (const [text, choice] of table) assert.deepEqual(parseBlocks(text), choice, text);
  const refused = ["", "newest", "1..2..3", "1..", "..", "-1", "0x", "281474976710656"];
  for (const text of refused)
    assert.throws(() => parseBlocks(text), /Expected latest, oldest, a block number/, text);
});
