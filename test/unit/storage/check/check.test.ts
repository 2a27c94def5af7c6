import assert from "node:assert/strict";
import {test} from "node:test";
import {checkNote} from "../../../../storage/check/check.ts";

function note(block: number): {block: number; log: number; bytes: number} {
  return {block, log: 5, bytes: 100};
}

function findingsOf(latest: number | undefined, ...notes: [Note, Note]): string[] {
  const found: string[] = [];
  checkNote(latest, ...notes, {report: (where, what) => void found.push(`${where}: ${what}`)});
  return found;
}

type Note = Parameters<typeof checkNote>[1];

test("a block that the note names and the files lack is a finding", () => {
  const loss = "ACKNOWLEDGED: it says that block 35 was held, and the newest is block 30";
  assert.deepEqual(findingsOf(30, note(35), note(35)), [loss]);
  assert.deepEqual(findingsOf(35, note(35), note(35)), []);
  assert.deepEqual(findingsOf(undefined, note(0), note(0)), [
    "ACKNOWLEDGED: it says that block 0 was held, and the store holds no block",
  ]);
});

test("blocks that came after the files were opened are no finding", () => {
  assert.deepEqual(findingsOf(30, note(30), note(35)), []);
  assert.deepEqual(findingsOf(30, undefined, note(35)), []);
});

test("blocks that were rolled back while the files were opened are no finding", () => {
  assert.deepEqual(findingsOf(30, note(35), note(30)), []);
});
