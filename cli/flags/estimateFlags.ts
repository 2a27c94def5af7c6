/** Flags of `proofd serve` for gas estimates. */
import {availableParallelism} from "node:os";
import type {Command} from "commander";
import type {EstimateOptions} from "../../service/serviceOptions.ts";
import {DEFAULT_ESTIMATE_SETTINGS as DEFAULTS, HARDFORKS} from "../../workers/job/estimateSettings.ts";
import {readFees} from "./feeFile.ts";
import {integerParser, MAX_WORKERS, parseText, readHttpUrl} from "./flag.ts";
import {idleWhen, offSwitch, refuseFlag, type ValuesOf, value} from "./flagTable.ts";

/** A plain transfer's gas. */
const LEAST_GAS_CAP = 21_000;
const WORKERS = Math.max(1, Math.floor((availableParallelism() - 1) / 2));

export const ESTIMATE_FLAGS = {
  estimate: offSwitch("make no gas estimates: chain_estimateGas is refused, or forwarded to --gateway"),
  ...idleWhen(({estimate}) => (estimate ? "without --no-estimate" : undefined), {
    gateway: value("<url>", String).says("with --no-estimate: forward gas estimates to this node"),
  }),
  ...idleWhen(({estimate}) => (estimate ? undefined : "with --no-estimate"), {
    gasCap: value("<gas>", integerParser(LEAST_GAS_CAP, 2 ** 32), DEFAULTS.gasCap).says(
      "highest gas that an estimate may return",
    ),
    hardfork: value("<name>", HARDFORKS).says(
      "hard fork whose rules apply to every block; default: as the genesis config says",
    ),
    estimateWorkers: value(
      "<count>",
      integerParser(1, MAX_WORKERS),
      WORKERS,
      `half of cores - 1, here ${WORKERS}`,
    ).says("number of threads for short estimates; half as many run long ones"),
    fees: value("<file>", parseText).says("JSON file with the parameters of the priority fee (docs/gas.md)"),
  }),
};

/** @param command - ends the program with a usage error for a bad URL */
export function readEstimateOptions(
  values: ValuesOf<typeof ESTIMATE_FLAGS>,
  command: Command,
): EstimateOptions {
  const {gasCap, hardfork, estimateWorkers, estimate, gateway, fees} = values;
  return {
    settings: {...DEFAULTS, gasCap, hardfork, fee: readFees(fees, command)},
    workers: estimateWorkers,
    isEnabled: estimate,
    gateway: gateway === undefined ? undefined : readGateway(gateway, command),
  };
}

function readGateway(text: string, command: Command): URL {
  return readHttpUrl(text) ?? refuseFlag(command, "gateway", ": expected an http or https URL with a host");
}
