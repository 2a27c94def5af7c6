/** Every program that is not a test answers --help, and names what it does not understand. */
import assert from "node:assert/strict";
import {mkdtemp, readdir, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {runCommandLines} from "../../support/processes/daemon.ts";

const PROGRAMS = ["stages/main", "peers/main", "service/main", "contracts/main"];
/** With what it cannot do without, since that is asked for first. */
const COMMANDS = [["import"], ["serve"], ["check"], ["rollback", "--to", "1"], ["load", "--url", "http://a"]];

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-programs-"));
  await writeFile(join(folder, "file"), "");
});
after(async () => {
  assert.deepEqual(await readdir(folder), ["file"], "no program has made anything");
  await rm(folder, {recursive: true});
});

/** @returns the ends of `program` with each of these arguments */
function run(program: string, lines: readonly (readonly string[])[]): Promise<CommandEnd[]> {
  const main = new URL(`../../../bench/${program}.js`, import.meta.url).href;
  return runCommandLines(
    lines.map(args => [main, ...args]),
    folder,
  );
}

test("every bench program answers --help, and refuses flags and values that it does not know", async () => {
  const common: [readonly string[], RegExp][] = [
    [["--bogus"], /unknown option '--bogus'/],
    [["extra"], /too many arguments/],
  ];
  const own: Readonly<Record<string, [readonly string[], RegExp][]>> = {
    "stages/main": [
      [["--only"], /option '--only <names>' argument missing/],
      [
        ["--accounts", "many"],
        /'--accounts <count>' argument 'many' is invalid. Expected a whole number from 1000/,
      ],
      [
        ["--json", "file/below.json"],
        /--json: expected a file that can be written, got 'file\/below\.json' \(E/,
      ],
      [["--json", "."], /--json: expected a file that can be written, got '\.' \(it is a folder\)/],
      [
        ["--against", "missing.json"],
        /--against: expected the JSON of an earlier run .*, got 'missing\.json' \(E/,
      ],
      [["--runs", "1"], /'--runs <count>' argument '1' is invalid. Expected a whole number from 2/],
      [["--accounts", "11M"], /argument '11M' is invalid. Expected a whole number from 1000 to 10000000,/],
      [["--blocks", "1.5"], /argument '1\.5' is invalid/],
      [["--time", "-1"], /'--time <ms>' argument '-1' is invalid/],
      [["--only", "hash,prof"], /Expected some of hash, proof, .*, commit, with commas, got 'prof'/],
      [["--suite", "md5"], /Expected some of sha256, poseidon2, .* got 'md5'/],
    ],
    "peers/main": [
      [
        ["--accounts", "1"],
        /'--accounts <count>' argument '1' is invalid. Expected a whole number from 1000 /,
      ],
      [["--blocks", "0"], /'--blocks <count>' argument '0' is invalid. Expected a whole number from 1 /],
      [["--duration", "0"], /argument '0' is invalid. Expected a whole number from 1 to 3600/],
      [["--warm-up", "x"], /'--warm-up <seconds>' argument 'x'/],
      [["--rounds", "-1"], /--rounds/],
      [
        ["--only", "account,none"],
        /'account,none' is invalid. Expected some of account, slot, .* got 'none'/,
      ],
      [["--servers", "geth"], /Expected some of proofd, naive, anvil, with commas, got 'geth'/],
    ],
    "service/main": [
      [["--duration", "1h"], /argument '1h' is invalid. Expected a whole number from 1 to 600/],
      [["--rate", "0"], /'--rate <requests\/s>' argument '0'/],
      [["--only", ""], /Expected some of memory, tail, /],
    ],
    "contracts/main": [
      [["--accounts", "9"], /argument '9' is invalid. Expected a whole number from 10 to 1000000000/],
      [["--slots", "some"], /'--slots <count>' argument 'some'/],
      [["--suite", "keccak"], /Expected some of sha256, poseidon2, with commas, got 'keccak'/],
    ],
  };
  for (const program of PROGRAMS) {
    const table = [...common, ...(own[program] ?? [])];
    const [help, ...ends] = await run(program, [["--help"], ...table.map(([args]) => args)]);
    assert.deepEqual([help?.code, help?.stderr], [0, ""], program);
    const usage = /^Usage: npm run bench\S* -- \[options\]\n\n[A-Z][^-]*\.\n\nOptions:\n {2}--\S/;
    assert.match(help?.stdout ?? "", usage, program);
    if (program === "stages/main")
      assert.match(help?.stdout ?? "", /^ {2}--time <ms> {2,}milliseconds per task \(default: 1000\)$/m);
    for (const [at, [args, message]] of table.entries()) {
      const {code, stdout, stderr} = ends[at] as CommandEnd;
      const what = `${program} ${args.join(" ")}: ${stderr}`;
      assert.deepEqual([code, stdout], [2, ""], what);
      assert.match(stderr, /^error: .*\n(\(Did you mean .*\)\n)?\(--help shows all flags\)\n$/, what);
      assert.match(stderr, message, what);
    }
  }
});

test("every command of proofd answers --help, and refuses flags and words that it does not know", async () => {
  const unknown = [
    ["--bogus", "unknown option '--bogus'"],
    ["extra", "too many arguments"],
  ] as const;
  const helps = await runCommandLines(
    COMMANDS.map(([name]) => [name as string, "--help"]),
    folder,
  );
  const refusals = await runCommandLines(
    COMMANDS.flatMap(command => unknown.map(([arg]) => [...command, arg])),
    folder,
  );
  for (const [at, command] of COMMANDS.entries()) {
    const name = command[0] as string;
    const help = helps[at] as CommandEnd;
    assert.deepEqual([help.code, help.stderr], [0, ""], name);
    const usage = new RegExp(`^Usage: proofd ${name}(\\|bench)? \\[options\\]\n\n[A-Z].*\n`);
    assert.match(help.stdout, usage, name);
    for (const [, message] of unknown) {
      const {code, stdout, stderr} = refusals.shift() as CommandEnd;
      assert.deepEqual([code, stdout], [2, ""], name);
      assert.ok(stderr.startsWith(`error: ${message}`), `${name}: ${stderr}`);
      assert.doesNotMatch(stderr, /^\s+at /m, "no stack");
    }
  }
});
