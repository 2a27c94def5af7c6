import assert from "node:assert/strict";
import {test} from "node:test";
import {FlagError, parseFlags, writeHelp} from "../../../../bench/stages/flags.ts";
import {type BenchOptions, createFlags, readOptions} from "../../../../bench/stages/options.ts";

const NAMES = ["hash", "proof", "sha256"];

function parseOptions(args: readonly string[], names: readonly string[]): BenchOptions | "help" {
  const texts = parseFlags(args, createFlags(names));
  return texts === "help" ? "help" : readOptions(texts, names);
}

test("without arguments: 100 000 accounts, 300 blocks, a second per task, all stages", () => {
  assert.deepEqual(parseOptions([], NAMES), {
    accounts: 100_000,
    blocks: 300,
    timeMs: 1000,
    only: undefined,
    jsonPath: undefined,
    againstPath: undefined,
  });
});

test("counts may end in k or M; names are separated by commas", () => {
  const options = parseOptions(["--accounts", "10M", "--blocks", "1k", "--only", "proof,hash"], NAMES);
  assert.ok(options !== "help");
  assert.equal(options.accounts, 10_000_000);
  assert.equal(options.blocks, 1000);
  assert.deepEqual(options.only, ["proof", "hash"]);
});

test("--help is heard wherever it stands", () => {
  assert.equal(parseOptions(["--time", "10", "--help"], NAMES), "help");
});

test("the help names every flag with its value, what it is and its default", () => {
  const help = writeHelp({command: "npm run bench --", about: "Measures.", flags: createFlags(NAMES)});
  assert.match(help, /^npm run bench -- \[flags\]\n\nMeasures\.\n\n/);
  assert.match(help, /^ {2}--time MS {2,}milliseconds per task \(default 1000\)$/m);
  assert.match(help, /^ {2}--json FILE {2,}where /m);
  assert.match(help, /^ {2}--help$/m);
});

test("what is not understood is refused by flag, value and expectation", () => {
  for (const [args, message] of [
    [
      ["--accounts", "1x"],
      /^--accounts is '1x': expected a whole number from 1000 to 10000000, such as 100k or 1M$/,
    ],
    [["--accounts", "999"], /^--accounts is '999': expected a whole number from 1000 /],
    [["--accounts", "11M"], /^--accounts is '11M': /],
    [["--accounts", ""], /^--accounts is '': /],
    [["--blocks", "0"], /^--blocks is '0': expected a whole number from 1 to 100000$/],
    [["--blocks", "1.5"], /^--blocks is '1\.5': /],
    [["--time", "-1"], /'--time'|--time is '-1'/],
    [["--only", "hash,prof"], /^--only is 'hash,prof': 'prof' is not one of hash, proof, sha256 /],
    [["--only", ""], /^--only is '': '' is not one of /],
    [["--bogus"], /^Unknown option '--bogus'$/],
    [["--time"], /--time/],
    [["extra"], /^Unexpected argument 'extra'$/],
  ] as const)
    assert.throws(
      () => parseOptions(args, NAMES),
      error => error instanceof FlagError && message.test(error.message),
      args.join(" "),
    );
});
