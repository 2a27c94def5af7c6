/** Writes a command line that runs the same command again, for reports. */
import type {Command} from "commander";

const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * @param command - the command that runs. Variables that set its flags are written before it
 * @param args - the program's arguments, with the command's name first
 */
export function writeCommandLine(
  command: Command,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const variables = command.options
    .filter(option => command.getOptionValueSource(option.attributeName()) === "env")
    .map(({envVar}) => `${envVar}=${quote(environment[envVar as string] ?? "")}`);
  return [...variables, "proofd", ...args.map(quote)].join(" ");
}

function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
