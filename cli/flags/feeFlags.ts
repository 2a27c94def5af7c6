/** Flags of `proofd serve` for the priority fee of estimates: the fee model and its numbers. */
import {DEFAULT_ESTIMATE_SETTINGS, type FeeSettings} from "../../workers/job/estimateSettings.ts";
import {bigintParser, parseDecimal} from "./flag.ts";
import {type Idle, idleWhen, onSwitch, type Undescribed, type ValuesOf, value} from "./flagTable.ts";

const DEFAULTS = DEFAULT_ESTIMATE_SETTINGS.fee;
const DEFAULT_MIN_MARGIN = {verification: DEFAULTS.minMargin, "extra-data": "1.2"};
const MODELS = ["verification", "extra-data"] as const;

export const FEE_FLAGS = {
  feeModel: value("<model>", MODELS, DEFAULTS.model).says("how the priority fee is computed"),
  minMargin: value("<factor>", parseDecimal).says(
    `factor on the priority fee; default: ${DEFAULT_MIN_MARGIN.verification}, with --fee-model extra-data ${DEFAULT_MIN_MARGIN["extra-data"]}`,
  ),
  ...idleWhen(besideModel("extra-data"), {
    verificationGasCost: value("<gas>", bigintParser(0n), DEFAULTS.verificationGasCost).says(
      "layer-1 gas that the verification of a batch costs",
    ),
    verificationCapacity: value("<gas>", bigintParser(1n), DEFAULTS.verificationCapacity).says(
      "capacity of one verification on layer 1",
    ),
    gasPriceRatio: value("<factor>", parseDecimal, DEFAULTS.gasPriceRatio).says(
      "gas price of layer 1, divided by that of layer 2",
    ),
    gasPriceAdjustment: wei("gasPriceAdjustment").says("added to the profitable priority fee"),
    minGasPrice: wei("minGasPrice").says("least gas price of layer 2"),
  }),
  ...idleWhen(besideModel("verification"), {
    fixedCost: wei("fixedCost").says("fixed cost of a block whose extraData names none"),
    variableCost: wei("variableCost").says("variable cost of a block whose extraData names none"),
    packAlign: onSwitch(
      "round the compressed size up to whole 32-byte field elements, 254 bits each, as the live network does",
    ),
  }),
};

export function readFeeSettings(values: ValuesOf<typeof FEE_FLAGS>): FeeSettings {
  const {feeModel: model, minMargin = DEFAULT_MIN_MARGIN[model], packAlign} = values;
  const {verificationGasCost, verificationCapacity, gasPriceRatio, gasPriceAdjustment} = values;
  const {minGasPrice, fixedCost, variableCost} = values;
  const costs = {verificationGasCost, verificationCapacity, fixedCost, variableCost};
  return {model, minMargin, ...costs, gasPriceRatio, gasPriceAdjustment, minGasPrice, packAlign};
}

function besideModel(model: FeeSettings["model"]): Idle {
  return ({feeModel}) => (feeModel === model ? `with --fee-model ${model}` : undefined);
}

type WeiSetting = "gasPriceAdjustment" | "minGasPrice" | "fixedCost" | "variableCost";

function wei(name: WeiSetting): Undescribed<bigint> {
  return value("<wei>", bigintParser(0n), DEFAULTS[name]);
}
