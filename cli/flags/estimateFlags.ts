/**
 * Flags of `proofd serve` for gas estimates. A flag that has no effect is refused, so that nobody relies on it. These are
 * flags of the other fee model, flags of estimates with --no-estimate, and --gateway without --no-estimate.
 */
import {availableParallelism} from "node:os";
import type {Command, Option} from "commander";
import type {EstimateOptions} from "../../service/serviceOptions.ts";
import {DEFAULT_ESTIMATE_SETTINGS, HARDFORKS} from "../../workers/job/estimateSettings.ts";
import {
  createFeeOptions,
  createModelOptions,
  type FeeFlags,
  type FeeModel,
  readFeeSettings,
} from "./feeFlags.ts";
import {
  createOption,
  createSwitch,
  integerParser,
  MAX_WORKERS,
  parseFraction,
  readHttpUrl,
  refuseSecret,
} from "./flag.ts";

/** Values of the flags below, as commander names them. */
interface EstimateFlags extends FeeFlags {
  readonly gasCap: number;
  readonly estimateTime: number;
  readonly gasTolerance: number;
  readonly hardfork?: string;
  readonly estimateWorkers: number;
  readonly estimate: boolean;
  readonly gateway?: string;
}

const OTHER_MODEL: Readonly<Record<FeeModel, FeeModel>> = {
  verification: "extra-data",
  "extra-data": "verification",
};
/** A plain transfer's gas. */
const LEAST_GAS_CAP = 21_000;

export function createEstimateOptions(): Option[] {
  return [
    ...createSettingOptions(),
    createSwitch("--no-estimate", "make no gas estimates: run without the sequencer extension"),
    createGatewayOption(),
  ];
}

function createGatewayOption(): Option {
  const description = "with --no-estimate: forward gas estimates to this node";
  return createOption("--gateway <url>", description);
}

/** The flags that say how this node estimates. */
function createSettingOptions(): Option[] {
  const workers = Math.max(1, Math.floor((availableParallelism() - 1) / 2));
  return [
    createOption("--gas-cap <gas>", "highest gas that an estimate may return")
      .argParser(integerParser(LEAST_GAS_CAP, 2 ** 32))
      .default(DEFAULT_ESTIMATE_SETTINGS.gasCap),
    createOption("--estimate-time <ms>", "execution time of one estimate, all its runs together")
      .argParser(integerParser(1, 600_000))
      .default(DEFAULT_ESTIMATE_SETTINGS.timeMs),
    createOption(
      "--gas-tolerance <fraction>",
      "how far an estimate may be above the least gas that suffices; 0 is exact",
    )
      .argParser(parseFraction)
      .default(DEFAULT_ESTIMATE_SETTINGS.gasTolerance),
    createOption(
      "--hardfork <name>",
      "hard fork whose rules apply to every block; default: as the genesis config says",
    ).choices(HARDFORKS),
    createOption(
      "--estimate-workers <count>",
      "number of threads for short estimates; half as many run long ones",
    )
      .argParser(integerParser(1, MAX_WORKERS))
      .default(workers, `half of cores - 1, here ${workers}`),
    ...createFeeOptions(),
  ];
}

/** @param command - ends the program with a usage error for flags that exclude each other */
export function readEstimateOptions(flags: EstimateFlags, command: Command): EstimateOptions {
  const {gasCap, estimateTime: timeMs, gasTolerance, hardfork, estimate: isEnabled} = flags;
  if (isEnabled) {
    refuseIdle([createGatewayOption()], command, "without --no-estimate");
    refuseIdle(
      createModelOptions(OTHER_MODEL[flags.feeModel]),
      command,
      `with --fee-model ${flags.feeModel}`,
    );
  } else {
    refuseIdle(createSettingOptions(), command, "with --no-estimate");
  }
  return {
    settings: {
      gasCap,
      timeMs,
      gasTolerance,
      ...(hardfork === undefined ? {} : {hardfork}),
      fee: readFeeSettings(flags),
    },
    workers: flags.estimateWorkers,
    isEnabled,
    gateway: readGateway(flags, command),
  };
}

function readGateway({gateway: text}: EstimateFlags, command: Command): URL | undefined {
  if (text === undefined) return undefined;
  return (
    readHttpUrl(text) ?? refuseSecret(command, "gateway", "is a bad URL: expected http or https, and a host")
  );
}

/**
 * Ends the program with a usage error if one of `options` was given.
 *
 * @param company - the end of the message, such as "without --diffs"
 */
export function refuseIdle(options: readonly Option[], command: Command, company: string): void {
  for (const option of options) {
    const source = command.getOptionValueSource(option.attributeName());
    if (source !== "cli" && source !== "env") continue;
    const name = source === "env" ? `variable ${option.envVar}` : option.long;
    command.error(`error: ${name} has no effect ${company}`);
  }
}
