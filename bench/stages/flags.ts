/** Flags of the bench programs: named in a table, which makes the help, and checked before any work. */
import {accessSync, constants, mkdirSync, statSync} from "node:fs";
import {dirname} from "node:path";
import {parseArgs} from "node:util";

/** The message names the flag, the value and what is expected. */
export class FlagError extends Error {}

export interface Flag {
  /** What stands for the value in the help. */
  readonly value: string;
  readonly default?: string;
  readonly about: string;
}

export type FlagTable = Readonly<Record<string, Flag>>;

/** Texts by flag; those without a default are undefined where they are left out. */
export type FlagTexts<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name] extends {readonly default: string}
    ? string
    : string | undefined;
};

export interface BenchProgram<Table extends FlagTable> {
  /** How it is run, up to its flags. */
  readonly command: string;
  readonly about: string;
  readonly flags: Table;
}

/** Runs a program: --help is answered with exit code 0, a FlagError with one line and exit code 2. */
export async function runProgram<Table extends FlagTable>(
  program: BenchProgram<Table>,
  run: (texts: FlagTexts<Table>) => Promise<void>,
): Promise<void> {
  try {
    const texts = parseFlags(process.argv.slice(2), program.flags);
    if (texts === "help") process.stdout.write(writeHelp(program));
    else await run(texts);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    process.stderr.write(`error: ${error.message} (--help shows all flags)\n`);
    process.exitCode = 2;
  }
}

/**
 * @returns "help" if that is asked for
 * @throws FlagError for a flag that is not in the table, one without a value, and what is no flag
 */
export function parseFlags<Table extends FlagTable>(
  args: readonly string[],
  table: Table,
): FlagTexts<Table> | "help" {
  const options = Object.fromEntries(Object.keys(table).map(name => [name, {type: "string" as const}]));
  let values: Readonly<Record<string, unknown>>;
  try {
    values = parseArgs({args: [...args], options: {...options, help: {type: "boolean"}}}).values;
  } catch (error) {
    // Of Node's sentences the first one says what is wrong; others explain how such a word could be escaped.
    throw new FlagError((error as Error).message.split(/\. |\n/)[0]);
  }
  if (values.help === true) return "help";
  const texts = Object.entries(table).map(([name, flag]) => [name, values[name] ?? flag.default]);
  return Object.fromEntries(texts) as FlagTexts<Table>;
}

export function writeHelp({command, about, flags}: BenchProgram<FlagTable>): string {
  const rows = Object.entries(flags).map(([name, flag]) => {
    const preset = flag.default === undefined ? "" : ` (default ${flag.default})`;
    return [`--${name} ${flag.value}`, `${flag.about}${preset}`] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = [...rows, ["--help", ""] as const].map(([left, right]) =>
    `  ${left.padEnd(width)}  ${right}`.trimEnd(),
  );
  return `${command} [flags]\n\n${about}\n\n${lines.join("\n")}\n`;
}

/**
 * Makes the folder that a file is to lie in, before minutes are spent on what goes into it.
 *
 * @throws FlagError where no file can be written there
 */
export function prepareFile(flag: string, path: string): void {
  try {
    mkdirSync(dirname(path), {recursive: true});
    accessSync(dirname(path), constants.W_OK);
    if (statSync(path, {throwIfNoEntry: false})?.isDirectory() !== true) return;
  } catch (error) {
    throw new FlagError(`--${flag} is '${path}': cannot be written (${(error as Error).message})`);
  }
  throw new FlagError(`--${flag} is '${path}': expected a file, this is a folder`);
}

/**
 * `k` and `M` stand for thousands and millions.
 *
 * @throws FlagError
 */
export function parseCount(flag: string, text: string, least: number, most: number, example = ""): number {
  const [, digits, unit] = /^([0-9]{1,9})([kM]?)$/.exec(text) ?? [];
  const count = Number(digits) * (unit === "k" ? 1e3 : unit === "M" ? 1e6 : 1);
  if (count >= least && count <= most) return count;
  throw new FlagError(`--${flag} is '${text}': expected a whole number from ${least} to ${most}${example}`);
}

/**
 * Names with commas between them.
 *
 * @returns undefined for a flag that is left out
 * @throws FlagError
 */
export function parseNames<Name extends string>(
  flag: string,
  text: string | undefined,
  names: readonly Name[],
): Name[] | undefined {
  if (text === undefined) return undefined;
  return text.split(",").map(part => {
    const name = names.find(one => one === part);
    if (name !== undefined) return name;
    throw new FlagError(
      `--${flag} is '${text}': '${part}' is not one of ${names.join(", ")} (several: with commas)`,
    );
  });
}
