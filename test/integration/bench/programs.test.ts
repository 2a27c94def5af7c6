/** Every bench program answers --help, and names what it does not understand. */
import assert from "node:assert/strict";
import {readdir, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {runCommandLines} from "../../support/processes/daemon.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const folder = makeTemporaryFolder();
before(async () => {
  await writeFile(join(folder, "file"), "");
});
after(async () => {
  assert.deepEqual(await readdir(folder), ["file"], "no program has made anything");
});

test("every bench program answers --help, and refuses flags and values that it does not know", async () => {
  const common: [readonly string[], RegExp][] = [
    [["--bogus"], /unknown option '--bogus'/],
    [["extra"], /too many arguments/],
  ];
  const programs: Readonly<Record<string, [readonly string[], RegExp][]>> = {
    "stages/main": [
      [["--only"], /option '--only <names>' argument missing/],
      [
        ["--only", "proof,prof"],
        /Expected comma-separated names of proof, multiproof, .*, commit, got 'prof'/,
      ],
      [["--accounts", "many"], /argument 'many' is invalid. Expected a whole number from 1000 to 10000000,/],
      [["--accounts", "11M"], /'--accounts <count>' argument '11M' is invalid/],
      [["--json", "file/below.json"], /--json file\/below\.json: cannot be written: ENOTDIR/],
      [["--json", "."], /--json \.: cannot be written: expected a file, got a folder/],
      [["--against", "missing"], /--against missing: ENOENT/],
    ],
    "peers/main": [
      [["--servers", "reth"], /Expected comma-separated names of proofd, anvil, geth, got 'reth'/],
    ],
  };
  const tables = Object.entries(programs).map(([name, own]) => {
    const main = new URL(`../../../bench/${name}.js`, import.meta.url).href;
    return {name, main, table: [...common, ...own]};
  });
  const lines = tables.flatMap(({main, table}) =>
    [["--help"], ...table.map(([args]) => args)].map(args => [main, ...args]),
  );
  const ends = await runCommandLines(lines, {cwd: folder});
  for (const {name, table} of tables) {
    const help = ends.shift();
    assert.deepEqual([help?.code, help?.stderr], [0, ""], name);
    const usage = /^Usage: npm run bench\S* -- \[options\]\n\n[A-Z][^-]*\.\n\nOptions:\n {2}--\S/;
    assert.match(help?.stdout ?? "", usage, name);
    if (name === "stages/main")
      assert.match(help?.stdout ?? "", /^ {2}--time <ms> {2,}milliseconds per task \(default: 1000\)$/m);
    for (const [args, message] of table) {
      const {code, stdout, stderr} = ends.shift() as CommandEnd;
      const what = `${name} ${args.join(" ")}: ${stderr}`;
      assert.deepEqual([code, stdout], [2, ""], what);
      assert.match(stderr, /^error: .*\n(\(Did you mean .*\)\n)?\(--help shows all flags\)\n$/, what);
      assert.match(stderr, message, what);
    }
  }
});
