import assert from "node:assert/strict";
import {test} from "node:test";
import {checkNote} from "../../../../storage/check/check.ts";

test("a block that the note names and the files lack is a finding, unless blocks came or were rolled back meanwhile", () => {
  const lost = (block: number, rest: string) => [`ACKNOWLEDGED: block ${block} was stored, but ${rest}`];
  const note = (block: number | undefined) => (block === undefined ? block : {block, log: 5, bytes: 100});
  for (const [latest, before, after, expected] of [
    [30, 35, 35, lost(35, "the newest is block 30")],
    [35, 35, 35, []],
    [undefined, 0, 0, lost(0, "the store is empty")],
    [30, 30, 35, []],
    [30, undefined, 35, []],
    [30, 35, 30, []],
  ] as const) {
    const found: string[] = [];
    const report = (where: string, what: string) => void found.push(`${where}: ${what}`);
    checkNote(latest, note(before), note(after), {report});
    assert.deepEqual(found, expected);
  }
});
