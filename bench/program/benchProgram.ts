/** Runs a program under bench/: parses its flags, then does its work. */
import {type Command, CommanderError, InvalidArgumentError} from "commander";
import {createCommand, type Flags, type ValuesOf} from "../../cli/flags/flagTable.ts";

const USAGE = 2;

/** Sets exit code 2 if a flag is invalid. @param name - the command without flags */
export async function runProgram<F extends Flags>(
  name: string,
  about: string,
  flags: F,
  work: (values: ValuesOf<F>, command: Command) => Promise<void>,
): Promise<void> {
  const command = createCommand(name, about, flags, work, "");
  try {
    await command.showHelpAfterError("(--help shows all flags)").exitOverride().parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  }
}

export function writeCommand(command: Command): string {
  return [command.name(), ...process.argv.slice(2)].join(" ");
}

export function namesParser<Name extends string>(names: readonly Name[]): (text: string) => readonly Name[] {
  return text =>
    text.split(",").map(one => {
      const name = names.find(known => known === one);
      if (name !== undefined) return name;
      throw new InvalidArgumentError(`Expected comma-separated names of ${names.join(", ")}, got '${one}'.`);
    });
}
