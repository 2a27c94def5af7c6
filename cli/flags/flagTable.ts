/**
 * Commands and their flags as tables. The key of a row names the flag and its variable:
 *
 *   l1Depth: value("<blocks>", integerParser(1, 60)).says("what it does", "l1")    --l1-depth <blocks>, PROOFD_L1_DEPTH
 *
 * A flag that would have no effect is refused. `needs` in its row lists what it depends on (findUnmetNeed).
 */

import {Command, Option, type OptionValues} from "commander";
import {readWholeFile} from "../../storage/regularFile.ts";
import {applyConfigFile} from "./configFile.ts";

/** `T` is the type of its value. It includes undefined unless the flag has a default or is required. */
export interface Flag<T = unknown> {
  readonly description: string;
  /** The placeholder of the value in the help. undefined: a switch. */
  readonly unit?: string;
  /** The allowed words, or a parser. */
  readonly parse?: readonly string[] | ((text: string, earlier: never) => unknown);
  readonly preset: T;
  readonly presetText?: string | undefined;
  readonly isRequired?: boolean;
  readonly needs?: string | undefined;
  /** Removes secrets from the text, for command lines in reports. */
  readonly redact?: (text: string) => string;
  /** Heading in the help, for this flag and those after it. */
  readonly heading?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

export type ValuesOf<F> = {readonly [key in keyof F]: F[key] extends Flag<infer T> ? T : never};

/** A flag with a value. @param parse - the allowed words, or a parser. @param preset - the default */
export function value<const T, const P extends T | undefined = undefined>(
  unit: string,
  parse: (readonly T[] & readonly string[]) | ((text: string, earlier: T | undefined) => T),
  preset?: P,
  presetText?: string,
): {says(description: string, needs?: string): Flag<T | P>} {
  return {says: (description, needs) => ({description, unit, parse, preset: preset as P, presetText, needs})};
}

export function secret<T>(flag: Flag<T>, redact: (text: string) => string): Flag<T> {
  return {...flag, redact};
}

export function required<T>(flag: Flag<T>): Flag<Exclude<T, undefined>> {
  return {...flag, preset: undefined as never, isRequired: true};
}

export function onSwitch(description: string, needs?: string): Flag<boolean> {
  return {description, preset: false, needs};
}

/** @returns the flags, with a heading in the help before the first one */
export function headed<F extends Flags>(heading: string, flags: F): F {
  const [[key, flag] = []] = Object.entries(flags);
  return key === undefined ? flags : {...flags, [key]: {...flag, heading: `${heading}:`}};
}

/** @param prefix - of variables. A command whose flags mean something else than those of `serve` has its own */
export function createCommand<F extends Flags>(
  name: string,
  description: string,
  flags: F,
  run: (values: ValuesOf<F>, command: Command) => void | Promise<void>,
  prefix = "PROOFD",
): Command {
  const command = new Command(name).description(description);
  const rows = Object.entries(flags);
  let heading = "Options:";
  for (const [key, flag] of rows) {
    heading = flag.heading ?? heading;
    command.addOption(createOption(key, flag, prefix).helpGroup(heading));
  }
  return command.action(() => {
    const {config} = command.opts();
    if (typeof config === "string")
      applyConfigFile(command, config, readFlagFile(command, "config", config), key => isList(flags[key]));
    const presets = rows.map(([key, {preset}]) => [key, preset]);
    const values: OptionValues = {...Object.fromEntries(presets), ...command.opts()};
    for (const [key, {needs}] of rows) {
      const isGiven = ["cli", "env", "config"].includes(command.getOptionValueSource(key) ?? "");
      const unmet = isGiven && needs !== undefined ? findUnmetNeed(needs, values, command) : undefined;
      if (unmet !== undefined) refuseFlag(command, key, ` has no effect ${unmet}`);
    }
    return run(values as ValuesOf<F>, command);
  });
}

/** A parser of a repeatable flag takes the earlier values as its second parameter. */
function isList(flag: Flag | undefined): boolean {
  return typeof flag?.parse === "function" && flag.parse.length === 2;
}

/** @returns the flag's name without -- */
export function nameOf(key: string): string {
  return key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}

function createOption(key: string, flag: Flag, prefix: string): Option {
  const {description, unit, parse, preset, presetText = String(preset)} = flag;
  const name = nameOf(key);
  const option = new Option(unit === undefined ? `--${name}` : `--${name} ${unit}`, description);
  if (prefix !== "") option.env(`${prefix}_${name.replaceAll("-", "_").toUpperCase()}`);
  option.makeOptionMandatory(flag.isRequired === true);
  if (typeof parse === "function") option.argParser(parse as (text: string, earlier: unknown) => unknown);
  else if (parse !== undefined) option.choices(parse);
  return unit === undefined || preset === undefined ? option : option.default(preset, presetText);
}

/** A usage error without the value, which may have a password. @param problem - follows the name: ": expected ..." */
export function refuseFlag(command: Command, key: string, problem: string): never {
  const option = command.options.find(option => option.attributeName() === key);
  const source = command.getOptionValueSource(key);
  const name = source === "env" ? `variable ${option?.envVar}` : option?.long;
  return command.error(`error: ${name}${source === "config" ? " in the file of --config" : ""}${problem}`);
}

/** Reads the file that a flag names. A file that cannot be read is a usage error. */
export function readFlagFile(command: Command, key: string, path: string): string {
  try {
    return readWholeFile(path).toString();
  } catch (error) {
    return refuseFlag(command, key, `: cannot read ${path}: ${(error as Error).message}`);
  }
}

const OR = new Intl.ListFormat("en", {type: "disjunction"});
const AND = new Intl.ListFormat("en", {type: "conjunction"});

/**
 * All clauses, separated by ", ", must hold. In a clause, one of the flags separated by " | " must be given, or, after
 * `!`, not given.
 *
 * @returns why a flag with these needs has no effect, such as "without --l2"; undefined if it has one
 */
function findUnmetNeed(needs: string, values: OptionValues, command: Command): string | undefined {
  for (const clause of needs.split(", ")) {
    const conditions = clause.split(" | ");
    const unwanted = conditions.filter(one => one.startsWith("!")).map(one => one.slice(1));
    const wanted = conditions.filter(one => !one.startsWith("!"));
    const isMet =
      wanted.some(one => isGiven(one, values, command)) ||
      unwanted.some(one => !isGiven(one, values, command));
    if (isMet) continue;
    const present = unwanted.length === 0 ? [] : [`with ${AND.format(unwanted.map(writeFlag))}`];
    const absent = wanted.length === 0 ? [] : [`without ${OR.format(wanted.map(writeFlag))}`];
    return [...present, ...absent].join(" ");
  }
  return undefined;
}

function isGiven(condition: string, values: OptionValues, {options}: Command): boolean {
  const [name, word] = condition.split("=");
  const option = options.find(({long}) => long === `--${name}`);
  // Flags that two commands share may name a flag that only one of them has.
  if (option === undefined) return false;
  const value = values[option.attributeName()];
  return word === undefined ? value !== undefined && value !== false : String(value) === word;
}

function writeFlag(condition: string): string {
  return `--${condition.replace("=", " ")}`;
}
