/** Writes the command line for reports, without secrets. */
import type {Command} from "commander";
import type {Flags} from "./flagTable.ts";

const PLAIN = /^[\w@%+=:,./*-]+$/;
const WITH_VALUE = /^(--[^=]+)=(.*)$/s;

/** @param flags - of `command`; variables that set them come first. @param args - from the name of the command on */
export function writeCommandLine(
  command: Command,
  flags: Flags,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const variables: string[] = [];
  const redactions = new Map<string, (text: string) => string>();
  for (const option of command.options) {
    const key = option.attributeName();
    const {redact = (text: string) => text} = flags[key] ?? {};
    if (option.required) redactions.set(option.long as string, redact);
    if (command.getOptionValueSource(key) === "env")
      variables.push(`${option.envVar}=${quote(redact(environment[option.envVar as string] ?? ""))}`);
  }
  const words: string[] = [];
  // Redacts the next word, which is the value of the flag before it.
  let pending: ((text: string) => string) | undefined;
  for (const arg of args) {
    const [, name, text] = WITH_VALUE.exec(arg) ?? [];
    const redact = name === undefined ? undefined : redactions.get(name);
    if (pending !== undefined) words.push(pending(arg));
    else words.push(redact === undefined ? arg : `${name}=${redact(text as string)}`);
    pending = pending === undefined ? redactions.get(arg) : undefined;
  }
  return [...variables, "proofd", ...words.map(quote)].join(" ");
}

function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
