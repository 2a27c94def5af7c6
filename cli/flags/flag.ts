/**
 * Parses values of flags and PROOFD_* variables. A refused value ends the program with exit code 2 and a message. The
 * message names the flag or variable, the value and what is expected.
 */
import {type Command, InvalidArgumentError, Option} from "commander";

/** Highest number of threads of one kind. */
export const MAX_WORKERS = 256;
const MAX_BLOCK = 2 ** 48 - 1;
const DECIMAL = /^[0-9]{1,18}(\.[0-9]{1,9})?$/;

/**
 * Creates the option `--name <value>`, which is also read from the variable PROOFD_NAME.
 *
 * @param prefix - of the variable. A command has its own if its flags mean something else than those of `serve`
 */
export function createOption(flags: string, description: string, prefix = "PROOFD"): Option {
  const option = new Option(flags, description);
  return option.env(`${prefix}_${option.name().replaceAll("-", "_").toUpperCase()}`);
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

/** Creates a flag without value. `readSwitches` checks its variable, since commander takes any value as "on". */
export function createSwitch(flags: string, description: string, prefix?: string): Option {
  return createOption(flags, description, prefix);
}

/**
 * Checks the variables of switches. 1 and true mean on. 0, false and an empty value mean off and are removed from `environment`.
 *
 * @throws InvalidArgumentError for another value
 */
export function readSwitches(options: readonly Option[], environment: NodeJS.ProcessEnv): void {
  for (const option of options) {
    if (option.required || option.optional || option.envVar === undefined) continue;
    const value = environment[option.envVar];
    if (value === undefined || value === "1" || value === "true") continue;
    if (value !== "0" && value !== "false" && value !== "") {
      throw new InvalidArgumentError(
        `environment variable ${option.envVar} is '${value}': expected 1, true, 0 or false`,
      );
    }
    delete environment[option.envVar];
  }
}

/** @returns a parser of whole numbers from `low` to `high`, decimal */
export function integerParser(low: number, high: number): (text: string) => number {
  return text => {
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= low && value <= high) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${low} to ${high}.`);
  };
}

/** @returns a parser of whole numbers from `low` to 2^256 - 1, decimal or 0x hex */
export function bigintParser(low: bigint): (text: string) => bigint {
  return text => {
    const value = parseBigint(text);
    if (value !== undefined && value >= low && value < 2n ** 256n) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${low} to 2^256 - 1, decimal or 0x hex.`);
  };
}

/** @returns undefined for text that is neither decimal nor 0x hex, or has more digits than a number below 2^256 */
function parseBigint(text: string): bigint | undefined {
  return /^([0-9]{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(text) ? BigInt(text) : undefined;
}

/** Checks a decimal number and returns it as text, so that it stays exact. */
export function parseDecimal(text: string): string {
  if (DECIMAL.test(text)) return text;
  throw new InvalidArgumentError("Expected a number such as 1.2, with at most 9 digits after the point.");
}

/** A number from 0 to below 1. */
export function parseFraction(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (value < 1) return value;
  throw new InvalidArgumentError("Expected a fraction from 0 to below 1, such as 0.015.");
}

/** @returns undefined for text that is no http or https URL */
export function readHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && hasReadableCredentials(url) ? url : undefined;
}

/**
 * Ends the program with a usage error that does not show the value, which may have a password. A parser's own error shows it.
 *
 * @param attribute - of the flag at fault, as commander names it
 * @param problem - the end of the message, after the name of the flag or variable
 */
export function refuseSecret(command: Command, attribute: string, problem: string): never {
  const option = command.options.find(option => option.attributeName() === attribute);
  const isVariable = command.getOptionValueSource(attribute) === "env";
  return command.error(`error: ${isVariable ? `variable ${option?.envVar}` : option?.long} ${problem}`);
}

/**
 * @param parseOne - checks one element
 * @returns a parser that adds elements to those of earlier flags. Commas separate several
 */
export function listParser(
  parseOne: (text: string) => string,
): (text: string, earlier: readonly string[] | undefined) => readonly string[] {
  return (text, earlier) => [...(earlier ?? []), ...text.split(",").map(parseOne)];
}

/** A host name without a port, or *. */
export function parseHostName(text: string): string {
  if (text === "*" || /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(text)) return text;
  throw new InvalidArgumentError("Expected a host name without a port, such as proofd.example.org, or *.");
}

/** An origin as browsers send it, or *. */
export function parseOrigin(text: string): string {
  if (text === "*") return text;
  // URL gives no origin for other schemes, such as those of browser extensions.
  const isWeb = /^https?:/i.test(text);
  const isOrigin = isWeb
    ? URL.canParse(text) && new URL(text).origin === text
    : /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+$/.test(text);
  if (isOrigin) return text;
  throw new InvalidArgumentError(
    "Expected an origin as browsers send it, such as https://app.example.org, or *.",
  );
}

/** User name and password are percent-decoded later, so their percent signs must be valid escapes. */
export function hasReadableCredentials(url: URL): boolean {
  try {
    decodeURIComponent(url.username + url.password);
    return true;
  } catch {
    return false;
  }
}

/** A block number, decimal or 0x hex. */
export function parseBlockNumber(text: string): number {
  const value = /^([0-9]{1,16}|0[xX][0-9a-fA-F]{1,12})$/.test(text) ? Number(text) : Number.NaN;
  if (value <= MAX_BLOCK) return value;
  throw new InvalidArgumentError("Expected a block number, decimal or 0x hex.");
}

/** A block number, or "last" for the last block imported. */
export function parseFinalized(text: string): number | "last" {
  return text === "last" ? "last" : parseBlockNumber(text);
}

/** A block's hash. */
export function parseHash(text: string): Uint8Array {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return new Uint8Array(Buffer.from(text.slice(2), "hex"));
  throw new InvalidArgumentError("Expected a hash: 0x and 64 hex digits.");
}

export function parseAddress(text: string): Uint8Array {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return new Uint8Array(Buffer.from(text.slice(2), "hex"));
  throw new InvalidArgumentError("Expected an address: 0x and 40 hex digits.");
}

/** A chain id up to 2^256 - 1, decimal or 0x hex. */
export function parseChainId(text: string): bigint {
  const value = parseBigint(text);
  if (value !== undefined && value > 0n && value < 2n ** 256n) return value;
  throw new InvalidArgumentError("Expected a chain id above 0, decimal or 0x hex.");
}

export function parseText(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("Expected a value that is not empty.");
}
