/** A program under bench/: its flags, which are checked before any work, and how it ends. */
import {accessSync, constants, mkdirSync, statSync} from "node:fs";
import {dirname} from "node:path";
import {Command, CommanderError, InvalidArgumentError, Option} from "commander";

const USAGE = 2;

/** A flag's value is wrong in a way that only the work can see. The message names the flag and the value. */
export class FlagError extends Error {}

/** @param name - the command that runs it, without its flags */
export function createProgram(name: string, about: string, options: readonly Option[]): Command {
  const program = new Command(name)
    .description(about)
    .showHelpAfterError("(--help shows all flags)")
    .exitOverride();
  for (const option of options) program.addOption(option);
  return program;
}

/** Runs `work` with the flags of the command line. Sets exit code 2 if a flag is wrong. */
export async function runProgram<Flags>(
  program: Command,
  work: (flags: Flags) => Promise<void>,
): Promise<void> {
  try {
    program.parse();
    await work(program.opts() as Flags).catch(error => {
      // Reported like commander's own errors.
      if (error instanceof FlagError) program.error(`error: ${error.message}`);
      throw error;
    });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  }
}

/** The command line that repeats this run. */
export function writeCommand(program: Command): string {
  return [program.name(), ...process.argv.slice(2)].join(" ");
}

/** A number from `least` to `most`; `k` and `M` stand for thousands and millions. */
export function countOption(flags: string, about: string, least: number, most: number): Option {
  return new Option(flags, about).argParser(text => {
    const [, digits, unit] = /^([0-9]{1,9})([kM]?)$/.exec(text) ?? [];
    const count = Number(digits) * (unit === "k" ? 1e3 : unit === "M" ? 1e6 : 1);
    if (count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Expected a whole number from ${least} to ${most}, such as 100, 1k or 1M, got '${text}'.`,
    );
  });
}

/** Some of `names`, separated by commas. Default: all. */
export function namesOption(flags: string, about: string, names: readonly string[]): Option {
  return new Option(flags, `${about}: ${names.join(", ")}`).default(names, "all").argParser(text =>
    text.split(",").map(name => {
      if (names.includes(name)) return name;
      throw new InvalidArgumentError(`Expected some of ${names.join(", ")}, with commas, got '${name}'.`);
    }),
  );
}

/**
 * Creates the folder for a file, before minutes are spent on its content.
 *
 * @throws FlagError if no file can be written there
 */
export function prepareFile(flag: string, path: string): void {
  try {
    mkdirSync(dirname(path), {recursive: true});
    accessSync(dirname(path), constants.W_OK);
    if (statSync(path, {throwIfNoEntry: false})?.isDirectory() === true) throw new Error("it is a folder");
  } catch (error) {
    const reason = (error as Error).message;
    throw new FlagError(`--${flag}: expected a file that can be written, got '${path}' (${reason})`);
  }
}
