import assert from "node:assert/strict";
import {test} from "node:test";
import {createStagesProgram, STAGE_NAMES, type StageFlags} from "../../../../bench/stages/options.ts";

/** @throws CommanderError */
function parseFlags(...args: readonly string[]): StageFlags {
  const program = createStagesProgram().configureOutput({writeErr: () => {}});
  return program.parse(args, {from: "user"}).opts();
}

test("without arguments: 100 000 accounts, 300 blocks, a second and 16 runs per task, all stages, sha256", () => {
  assert.deepEqual(parseFlags(), {
    accounts: 100_000,
    blocks: 300,
    time: 1000,
    runs: 16,
    only: STAGE_NAMES,
    suite: ["sha256"],
  });
});

test("counts may end in k or M; names are separated by commas", () => {
  const flags = parseFlags("--accounts", "10M", "--blocks", "1k", "--only", "proof,hash,execute");
  assert.equal(flags.accounts, 10_000_000);
  assert.equal(flags.blocks, 1000);
  assert.deepEqual(flags.only, ["proof", "hash", "execute"]);
});

test("the help names every flag with its value, what it is and its default", () => {
  const help = createStagesProgram().helpInformation();
  assert.match(help, /^Usage: npm run bench -- \[options\]\n\nMeasures /);
  assert.match(help, /^ {2}--time <ms> {2,}milliseconds per task \(default: 1000\)$/m);
  assert.match(help, /^ {2}--accounts <count> {2,}accounts in block 0, [\s\S]*?\(default: 100k\)$/m);
  assert.match(help, /^ {2}--json <file> {2,}where /m);
  assert.match(help, /^ {2}-h, --help {2,}/m);
});

test("what is not understood is refused by flag, value and expectation", () => {
  for (const [args, message] of [
    [
      ["--accounts", "1x"],
      /'--accounts <count>' argument '1x' is invalid. Expected a whole number from 1000 to 10000000, such as /,
    ],
    [["--accounts", "999"], /'--accounts <count>' argument '999' .* from 1000 /],
    [["--accounts", "11M"], /argument '11M' is invalid/],
    [["--accounts", ""], /argument '' is invalid/],
    [["--blocks", "0"], /'--blocks <count>' argument '0' is invalid. .* from 1 to 100000,/],
    [["--blocks", "1.5"], /argument '1\.5' is invalid/],
    [["--time", "-1"], /'--time <ms>' argument '-1' is invalid/],
    [
      ["--only", "hash,prof"],
      /'hash,prof' is invalid. Expected some of hash, proof, .*, execute, .* got 'prof'/,
    ],
    [["--only", ""], /got ''/],
    [["--suite", "md5"], /Expected some of sha256, poseidon2, .* got 'md5'/],
    [["--bogus"], /unknown option '--bogus'/],
    [["--time"], /'--time <ms>' argument missing/],
    [["extra"], /too many arguments/],
  ] as const)
    assert.throws(() => parseFlags(...args), message, args.join(" "));
});
