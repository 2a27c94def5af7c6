/**
 * Commands and their flags as tables. The key of a row names the flag and its variable:
 *
 *   maxLag: value("<seconds>", integerParser(1, 60)).says("what it does")       --max-lag <seconds>, PROOFD_MAX_LAG
 *
 * A flag that has no effect beside the others is refused, so that nobody relies on it. Its row says when that is.
 */
import {Command, InvalidArgumentError, Option, type OptionValues} from "commander";
import {applyConfigFile, OFF} from "./configFile.ts";

/** Says why a flag has no effect, such as "without --l2". undefined: it has one. */
export type Idle = (values: OptionValues) => string | undefined;

/** `T` is the type of its value, undefined included unless the flag has a preset or is required. */
export interface Flag<T = unknown> {
  readonly description: string;
  /** What the help calls the value. undefined: a switch. */
  readonly unit?: string;
  /** The allowed words, or what reads the text. */
  readonly parse?: readonly string[] | ((text: string, earlier: never) => unknown);
  readonly preset: T;
  readonly presetText?: string | undefined;
  readonly isRequired?: boolean;
  /** The flag is --no-NAME, and its value is true without it. */
  readonly isNegated?: boolean;
  readonly idle?: Idle;
  /** In the help, of this flag and those after it. */
  readonly heading?: string;
}

/** A flag whose description follows: `value(..).says("what it does")`. */
export interface Undescribed<T> {
  says(description: string): Flag<T>;
}

export type Flags = Readonly<Record<string, Flag>>;

export type ValuesOf<F> = {readonly [key in keyof F]: F[key] extends Flag<infer T> ? T : never};

/**
 * A flag with a value.
 *
 * @param parse - the allowed words, or what reads the text
 * @param preset - the value without the flag
 */
export function value<const T, const P extends T | undefined = undefined>(
  unit: string,
  parse: (readonly T[] & readonly string[]) | ((text: string, earlier: T | undefined) => T),
  preset?: P,
  presetText?: string,
): Undescribed<T | P> {
  return {says: description => ({description, unit, parse, preset: preset as P, presetText})};
}

export function required<T>(flag: Flag<T>): Flag<Exclude<T, undefined>> {
  return {...flag, preset: undefined as never, isRequired: true};
}

export function onSwitch(description: string): Flag<boolean> {
  return {description, preset: false};
}

/** --no-NAME */
export function offSwitch(description: string): Flag<boolean> {
  return {description, preset: true, isNegated: true};
}

const LIST = new Intl.ListFormat("en", {type: "disjunction"});

/** @returns the flags, which also have no effect when `idle` says so */
export function idleWhen<F extends Flags>(idle: Idle, flags: F): F {
  const rows = Object.entries(flags).map(([key, flag]) => {
    const both: Idle = values => idle(values) ?? flag.idle?.(values);
    return [key, {...flag, idle: both}];
  });
  return Object.fromEntries(rows) as F;
}

/** @returns the flags, whose first one begins a group of the help, up to the next heading */
export function headed<F extends Flags>(heading: string, flags: F): F {
  const [[key, flag] = []] = Object.entries(flags);
  return key === undefined ? flags : {...flags, [key]: {...flag, heading: `${heading}:`}};
}

/** No effect unless one of these flags is given. They have no presets. */
export function without(...keys: readonly string[]): Idle {
  const company = `without ${LIST.format(keys.map(key => `--${nameOf(key)}`))}`;
  return values => (keys.some(key => values[key] !== undefined) ? undefined : company);
}

/** No effect if one of these flags is given. They have no presets. */
export function beside(...keys: readonly string[]): Idle {
  return values => {
    const key = keys.find(key => values[key] !== undefined);
    return key === undefined ? undefined : `with --${nameOf(key)}`;
  };
}

/** @param prefix - of the variables. A command has its own if its flags mean something else than those of `serve` */
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
    if (typeof config === "string") applyConfigFile(command, config, key => isList(flags[key]));
    const presets = rows.map(([key, {preset}]) => [key, preset]);
    const values: OptionValues = {...Object.fromEntries(presets), ...command.opts()};
    for (const [key, {idle}] of rows) {
      const source = command.getOptionValueSource(key);
      const isGiven = source === "cli" || source === "env" || source === "config";
      const company = isGiven ? idle?.(values) : undefined;
      if (company !== undefined) refuseFlag(command, key, ` has no effect ${company}`);
    }
    return run(values as ValuesOf<F>, command);
  });
}

/** What adds to earlier values takes them as its second parameter. */
function isList(flag: Flag | undefined): boolean {
  return typeof flag?.parse === "function" && flag.parse.length === 2;
}

function createOption(key: string, flag: Flag, prefix: string): Option {
  const {description, unit, parse, preset, presetText = String(preset)} = flag;
  const name = flag.isNegated === true ? `no-${nameOf(key)}` : nameOf(key);
  const option = new Option(unit === undefined ? `--${name}` : `--${name} ${unit}`, description);
  option.env(`${prefix}_${name.replaceAll("-", "_").toUpperCase()}`);
  option.makeOptionMandatory(flag.isRequired === true);
  if (typeof parse === "function") option.argParser(parse as (text: string, earlier: unknown) => unknown);
  else if (parse !== undefined) option.choices(parse);
  return unit === undefined || preset === undefined ? option : option.default(preset, presetText);
}

function nameOf(key: string): string {
  return key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}

/**
 * Ends the program with a usage error that does not show the value, which may have a password. A parser's own error shows it.
 *
 * @param problem - follows the name of the flag or variable: ": expected ..."
 */
export function refuseFlag(command: Command, key: string, problem: string): never {
  const option = command.options.find(option => option.attributeName() === key);
  const source = command.getOptionValueSource(key);
  const name = source === "env" ? `variable ${option?.envVar}` : option?.long;
  return command.error(`error: ${name}${source === "config" ? " in the file of --config" : ""}${problem}`);
}

/**
 * Refuses PROOFD_ variables that no command knows. This happens just before a command runs.
 *
 * @param program - ends with a usage error
 */
export function refuseUnknownVariables(program: Command, environment: NodeJS.ProcessEnv): void {
  const known = new Set(program.commands.flatMap(({options}) => options.map(({envVar}) => envVar)));
  program.hook("preAction", () => {
    const unknown = Object.keys(environment).find(name => name.startsWith("PROOFD_") && !known.has(name));
    if (unknown !== undefined)
      program.error(`error: unknown environment variable ${unknown}: no command has a flag of that name`);
  });
}

/**
 * Checks the variables of switches, since commander takes any value as "on". 1 and true mean on. 0, false and an empty value
 * mean off, also where the file of --config says on, and are removed from `environment`.
 *
 * @throws InvalidArgumentError for another value
 */
export function readSwitches(command: Command, environment: NodeJS.ProcessEnv): void {
  for (const option of command.options) {
    if (option.required || option.optional || option.envVar === undefined) continue;
    const value = environment[option.envVar];
    if (value === undefined || value === "1" || value === "true") continue;
    if (value !== "0" && value !== "false" && value !== "") {
      throw new InvalidArgumentError(
        `environment variable ${option.envVar}: expected 1, true, 0 or false, got '${value}'`,
      );
    }
    delete environment[option.envVar];
    command.setOptionValueWithSource(option.attributeName(), option.negate, OFF);
  }
}
