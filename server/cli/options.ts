/**
 * Values of flags and PROOFD_* variables. A value that is refused ends the program with exit code 2 and a message that
 * names the flag or variable, the value and what is expected.
 */
import {InvalidArgumentError, Option} from "commander";

const MAX_BLOCK = 2 ** 48 - 1;

/** `--name <value>` that is also read from the variable PROOFD_NAME. */
export function createOption(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(variableOf(option));
}

/** A flag without value. Its variable is checked by `readSwitches`, since commander takes any value for "on". */
export function createSwitch(flags: string, description: string): Option {
  return createOption(flags, description);
}

/**
 * Variables of switches: 1 and true switch on, 0, false and nothing are off and taken out of `environment`.
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

function variableOf(option: Option): string {
  return `PROOFD_${option.name().replaceAll("-", "_").toUpperCase()}`;
}

/** @returns a parser of whole numbers from `low` to `high`, decimal */
export function integerParser(low: number, high: number): (text: string) => number {
  return text => {
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= low && value <= high) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${low} to ${high}.`);
  };
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

/** A chain id up to 2^256 - 1, decimal or 0x hex. */
export function parseChainId(text: string): bigint {
  if (/^([0-9]{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(text)) {
    const value = BigInt(text);
    if (value > 0n && value < 2n ** 256n) return value;
  }
  throw new InvalidArgumentError("Expected a chain id above 0, decimal or 0x hex.");
}

export function parseText(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("Expected some text, not nothing.");
}
