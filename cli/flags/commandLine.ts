/** A command as it can be run again, for reports. */
import type {Command} from "commander";

const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * @param command - the one that runs: its flags that come from variables are written before it
 * @param args - of the program, the command's name first
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

/** As a POSIX shell reads it back. */
function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
