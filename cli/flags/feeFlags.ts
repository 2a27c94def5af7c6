/** Flags of `proofd serve` for the priority fee of estimates: the fee model and its numbers. */
import type {Option} from "commander";
import {DEFAULT_ESTIMATE_SETTINGS, type FeeSettings} from "../../workers/job/estimateSettings.ts";
import {bigintParser, createOption, createSwitch, parseDecimal} from "./flag.ts";

export type FeeModel = FeeSettings["model"];

/** Values of the flags below, as commander names them. */
export interface FeeFlags extends Omit<FeeSettings, "model" | "minMargin" | "packAlign"> {
  readonly feeModel: FeeModel;
  readonly minMargin?: string;
  readonly packAlign?: boolean;
}

const VERIFICATION: FeeModel = "verification";
const EXTRA_DATA: FeeModel = "extra-data";
const DEFAULTS = DEFAULT_ESTIMATE_SETTINGS.fee;
const DEFAULT_MIN_MARGIN: Readonly<Record<FeeModel, string>> = {
  [VERIFICATION]: DEFAULTS.minMargin,
  [EXTRA_DATA]: "1.2",
};

/** @returns the flags that only `model` uses */
export function createModelOptions(model: FeeModel): Option[] {
  if (model === EXTRA_DATA) {
    return [
      weiOption("--fixed-cost", "fixed cost of a block whose extraData names none", DEFAULTS.fixedCost),
      weiOption(
        "--variable-cost",
        "variable cost of a block whose extraData names none",
        DEFAULTS.variableCost,
      ),
      createSwitch(
        "--pack-align",
        "round the compressed size up to whole 32-byte field elements, 254 bits each, as the live network does",
      ),
    ];
  }
  return [
    createOption("--verification-gas-cost <gas>", "layer-1 gas that the verification of a batch costs")
      .argParser(bigintParser(0n))
      .default(DEFAULTS.verificationGasCost, `${DEFAULTS.verificationGasCost}`),
    createOption("--verification-capacity <gas>", "capacity of one verification on layer 1")
      .argParser(bigintParser(1n))
      .default(DEFAULTS.verificationCapacity, `${DEFAULTS.verificationCapacity}`),
    createOption("--gas-price-ratio <factor>", "gas price of layer 1, divided by that of layer 2")
      .argParser(parseDecimal)
      .default(DEFAULTS.gasPriceRatio, DEFAULTS.gasPriceRatio),
    weiOption("--gas-price-adjustment", "added to the profitable priority fee", DEFAULTS.gasPriceAdjustment),
    weiOption("--min-gas-price", "least gas price of layer 2", DEFAULTS.minGasPrice),
  ];
}

export function createFeeOptions(): Option[] {
  return [
    createOption("--fee-model <model>", "how the priority fee is computed")
      .choices([VERIFICATION, EXTRA_DATA])
      .default(DEFAULTS.model),
    createOption(
      "--min-margin <factor>",
      `factor on the priority fee; default: ${DEFAULT_MIN_MARGIN[VERIFICATION]}, with --fee-model ${EXTRA_DATA} ${DEFAULT_MIN_MARGIN[EXTRA_DATA]}`,
    ).argParser(parseDecimal),
    ...createModelOptions(VERIFICATION),
    ...createModelOptions(EXTRA_DATA),
  ];
}

export function readFeeSettings(flags: FeeFlags): FeeSettings {
  const {feeModel: model, verificationGasCost, verificationCapacity, gasPriceRatio} = flags;
  const {gasPriceAdjustment, minGasPrice, fixedCost, variableCost} = flags;
  return {
    model,
    minMargin: flags.minMargin ?? DEFAULT_MIN_MARGIN[model],
    verificationGasCost,
    verificationCapacity,
    gasPriceRatio,
    gasPriceAdjustment,
    minGasPrice,
    fixedCost,
    variableCost,
    packAlign: flags.packAlign === true,
  };
}

function weiOption(name: string, description: string, preset: bigint): Option {
  return createOption(`${name} <wei>`, description)
    .argParser(bigintParser(0n))
    .default(preset, String(preset));
}
