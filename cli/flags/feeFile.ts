/**
 * The file of --fees: parameters of the priority fee as JSON, named as in docs/gas.md. Omitted fields have defaults.
 *
 *   {"model": "extra-data", "minMargin": 1.2, "fixedCost": "30000000", "packAlign": true}
 */
import {type Command, InvalidArgumentError} from "commander";
import {readWholeFile} from "../../storage/regularFile.ts";
import {DEFAULT_ESTIMATE_SETTINGS, type FeeSettings} from "../../workers/messages/estimateSettings.ts";
import {refuseFlag} from "./flagTable.ts";
import {bigintParser, parseDecimal} from "./flagValues.ts";

const DEFAULTS = DEFAULT_ESTIMATE_SETTINGS.fee;
const MODELS: readonly FeeSettings["model"][] = ["verification", "extra-data"];
const EXTRA_DATA_MARGIN = "1.2";

type Readers = {readonly [name in keyof FeeSettings]?: (value: unknown) => FeeSettings[name]};
/** The fields of both models, and those of each. Parsers throw InvalidArgumentError. */
const FIELDS: Readonly<Record<FeeSettings["model"] | "both", Readers>> = {
  both: {model: readModel, minMargin: readDecimal},
  verification: {
    verificationGasCost: wholeFrom(0n),
    verificationCapacity: wholeFrom(1n),
    gasPriceRatio: readDecimal,
    gasPriceAdjustment: wholeFrom(0n),
    minGasPrice: wholeFrom(0n),
  },
  "extra-data": {fixedCost: wholeFrom(0n), variableCost: wholeFrom(0n), packAlign: readBoolean},
};
const READERS: Readers = {...FIELDS.both, ...FIELDS.verification, ...FIELDS["extra-data"]};

/** @returns the defaults if there is no path. An invalid field is a usage error that names it */
export function readFees(path: string | undefined, command: Command): FeeSettings {
  if (path === undefined) return DEFAULTS;
  const refuse = (problem: string): never => refuseFlag(command, "fees", `: ${path}: ${problem}`);
  const given: Partial<FeeSettings> = Object.fromEntries(
    Object.entries(readObject(path, refuse)).map(([name, value]) => [name, readField(name, value, refuse)]),
  );
  const {model = DEFAULTS.model} = given;
  const other = model === "verification" ? "extra-data" : "verification";
  const idle = Object.keys(given).find(name => name in FIELDS[other]);
  if (idle !== undefined) refuse(`${idle} has no effect with the model ${model}`);
  const minMargin = model === "extra-data" ? EXTRA_DATA_MARGIN : DEFAULTS.minMargin;
  return {...DEFAULTS, minMargin, ...given};
}

function readObject(path: string, refuse: (problem: string) => never): object {
  let value: unknown;
  try {
    value = JSON.parse(readWholeFile(path).toString());
  } catch (error) {
    return refuse((error as Error).message);
  }
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value
    : refuse("expected a JSON object");
}

function readField(name: string, value: unknown, refuse: (problem: string) => never): unknown {
  const names = Object.keys(READERS);
  if (!names.includes(name)) refuse(`there is no field ${name}: expected one of ${names.join(", ")}`);
  try {
    return READERS[name as keyof FeeSettings]?.(value);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return refuse(`${name}: ${error.message} Got ${JSON.stringify(value)}.`);
  }
}

function readModel(value: unknown): FeeSettings["model"] {
  const model = MODELS.find(name => name === value);
  if (model !== undefined) return model;
  throw new InvalidArgumentError(`Expected ${MODELS.join(" or ")}.`);
}

function readDecimal(value: unknown): string {
  return parseDecimal(textOf(value));
}

function wholeFrom(low: bigint): (value: unknown) => bigint {
  const parse = bigintParser(low);
  return value => parse(textOf(value));
}

function readBoolean(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new InvalidArgumentError("Expected true or false.");
}

/** JSON numbers above 2^53 - 1 are not exact, so they must be strings. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new InvalidArgumentError("Expected a number, as a string if it is above 2^53 - 1.");
}
