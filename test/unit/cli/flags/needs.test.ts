/** The column `needs` of the tables of flags. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {type Flags, onSwitch, value} from "../../../../cli/flags/flagTable.ts";
import {parseText} from "../../../../cli/flags/flagValues.ts";
import {IMPORT_FLAGS} from "../../../../cli/flags/importFlags.ts";
import {LOAD_FLAGS} from "../../../../cli/flags/loadFlags.ts";
import {PULL_FLAGS} from "../../../../cli/flags/pullFlags.ts";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {VERIFY_FLAGS} from "../../../../cli/flags/verifyFlags.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

const OTHERS = {
  file: value("<file>", parseText).says(""),
  mode: value("<mode>", ["a", "b"], "a").says(""),
  on: onSwitch(""),
  count: value("<count>", Number, 1).says(""),
};

test("what a flag needs is a flag, none of it, a word of it, or one of several", () => {
  for (const [needs, line, lack] of [
    ["file", "--file f", undefined],
    ["file", "", "without --file"],
    ["!file", "--file f", "with --file"],
    ["!on", "", undefined],
    ["!on", "--on", "with --on"],
    ["count=0", "--count 0", undefined],
    ["!count=0", "--count 0", "with --count 0"],
    ["mode=a", "", undefined],
    ["mode=a", "--mode b", "without --mode a"],
    ["file | on | mode=b", "--on", undefined],
    ["file | on | mode=b", "", "without --file, --on, or --mode b"],
    ["file, !on", "--file f --on", "with --on"],
    ["file, !on", "", "without --file"],
    ["!file | mode=b", "--file f --mode b", undefined],
    ["!file | mode=b", "--file f", "with --file without --mode b"],
    ["!file | !on", "--file f", undefined],
    ["!file | !on", "--file f --on", "with --file and --on"],
    ["unknown", "", "without --unknown"],
  ] as const) {
    const flags: Flags = {...OTHERS, asked: value("<text>", parseText).says("", needs)};
    const args = ["--asked", "x", ...line.split(" ").filter(word => word !== "")];
    const read = () => readFlags(flags, () => true, args);
    if (lack === undefined) assert.ok(read(), needs);
    else assertUsageError(read, new RegExp(`^error: --asked has no effect ${lack}$`));
  }
});

test("every flag that a table needs is in a table", () => {
  const tables: readonly Flags[] = [SERVE_FLAGS, IMPORT_FLAGS, PULL_FLAGS, VERIFY_FLAGS, LOAD_FLAGS];
  const rows = tables.flatMap(table => Object.entries(table));
  const known = rows.map(([key]) => key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`));
  const conditions = rows.flatMap(([, {needs}]) => needs?.split(/, | \| /) ?? []);
  const needed = conditions.map(condition => condition.replace("!", "").split("=")[0] as string);
  assert.ok(needed.length > 20);
  assert.deepEqual(
    needed.filter(name => !known.includes(name)),
    [],
  );
});
