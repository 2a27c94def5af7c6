/**
 * The file of --config: flags of the command by their names, one per line. Flags and variables take precedence.
 *
 *   # where blocks come from
 *   l2 = https://node.example.org
 *   balanced = true                          a switch: true or false
 *   cors = https://a.example                 a flag that may be repeated takes several lines
 *   cors = https://b.example
 */
import {type Command, InvalidArgumentError, type Option} from "commander";

const LINE = /^([a-z0-9-]+)[ \t]*=[ \t]*(.*)$/;
/** Marks a switch that a variable turns off. */
export const OFF = "off";
const STRONGER = ["cli", "env", OFF];

/** Sets the flags that neither the command line nor a variable sets. An invalid line is a usage error that names it. */
export function applyConfigFile(
  command: Command,
  path: string,
  text: string,
  isList: (key: string) => boolean,
): void {
  const seen = new Set<string>();
  for (const [at, row] of text.split("\n").entries()) {
    const line = row.trim();
    if (line === "" || line.startsWith("#")) continue;
    const refuse: (problem: string) => never = problem =>
      command.error(`error: --config: ${path}, line ${at + 1}: ${problem}`);
    const [, name = "", value = ""] = LINE.exec(line) ?? refuse("expected name = value");
    const option = command.options.find(({long}) => long === `--${name}` && name !== "config");
    if (option === undefined) refuse(`expected a flag of proofd ${command.name()}, got ${name}`);
    const key = option.attributeName();
    if (seen.has(key) && !isList(key)) refuse(`expected ${name} once, got it again`);
    const isFirst = !seen.has(key);
    seen.add(key);
    if (STRONGER.includes(command.getOptionValueSource(key) ?? "")) continue;
    try {
      const earlier = isFirst ? undefined : command.getOptionValue(key);
      command.setOptionValueWithSource(key, readValue(option, value, earlier), "config");
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      refuse(`${name}: ${error.message} Got '${value}'.`);
    }
  }
}

function readValue(option: Option, text: string, earlier: unknown): unknown {
  if (option.required) return option.parseArg === undefined ? text : option.parseArg(text, earlier);
  if (text !== "true" && text !== "false") throw new InvalidArgumentError("Expected true or false.");
  return text === "true";
}
