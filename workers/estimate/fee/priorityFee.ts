/**
 * The priority fee per gas, including the cost of layer 1 (docs/gas.md). It is exact: fractions of integers, rounded up
 * to a whole wei once.
 *
 *   verification   max(margin * ratio * verificationGasCost * size * minGasPrice / (gasLimit * capacity) + adjustment,
 *                      minGasPrice - baseFee)
 *   extra-data     margin * (floor(variable * size / gasLimit) + fixed)
 *
 * With `packAlign`, `size` is that of the field elements which hold the compressed bytes:
 *
 *   compressed     | 254 bits | 254 bits | ... | rest |        8 * compressedSize bits
 *   packed         | 32 bytes | 32 bytes | ... | 32 bytes |
 */
import type {FeeSettings} from "../../messages/estimateSettings.ts";

interface FeeInputs {
  /** From the same answer; above 0. */
  readonly gasLimit: bigint;
  readonly compressedSize: number;
  /** Wei. */
  readonly baseFee: bigint;
  /** From the selected block; undefined if the store has none. */
  readonly extraData: Uint8Array | undefined;
}

interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const EXTRA_DATA_VERSION = 1;
const VARIABLE_AT = 5;
const PRICED_EXTRA_DATA_BYTES = 1 + 3 * 4;
const ELEMENT_BITS = 254;
const ELEMENT_BYTES = 32;
const WEI_PER_KWEI = 1000n;

export class PriorityFee {
  private readonly minMargin: Fraction;
  private readonly gasPriceRatio: Fraction;

  constructor(private readonly settings: FeeSettings) {
    this.minMargin = parseDecimal(settings.minMargin);
    this.gasPriceRatio = parseDecimal(settings.gasPriceRatio);
  }

  /** @returns wei per gas */
  of(inputs: FeeInputs): bigint {
    return this.settings.model === "verification" ? this.verification(inputs) : this.extraData(inputs);
  }

  private verification({gasLimit, compressedSize, baseFee}: FeeInputs): bigint {
    const {minMargin: margin, gasPriceRatio: ratio} = this;
    const {verificationGasCost, verificationCapacity, gasPriceAdjustment, minGasPrice} = this.settings;
    const profitable = divideUp(
      margin.numerator * ratio.numerator * verificationGasCost * BigInt(compressedSize) * minGasPrice,
      margin.denominator * ratio.denominator * gasLimit * verificationCapacity,
    );
    const fee = profitable + gasPriceAdjustment;
    const least = minGasPrice - baseFee;
    return fee > least ? fee : least;
  }

  private extraData({gasLimit, compressedSize, extraData}: FeeInputs): bigint {
    const {fixed, variable} = readCosts(extraData) ?? {
      fixed: this.settings.fixedCost,
      variable: this.settings.variableCost,
    };
    const {numerator, denominator} = this.minMargin;
    const packedSize = Math.ceil((8 * compressedSize) / ELEMENT_BITS) * ELEMENT_BYTES;
    const size = this.settings.packAlign ? packedSize : compressedSize;
    return divideUp(numerator * ((variable * BigInt(size)) / gasLimit + fixed), denominator);
  }
}

/** `0x01 | fixed u32 | variable u32 | gas price u32 | ...`, in kwei. */
function readCosts(extraData: Uint8Array | undefined): {fixed: bigint; variable: bigint} | undefined {
  if (extraData === undefined || extraData.length < PRICED_EXTRA_DATA_BYTES) return undefined;
  if (extraData[0] !== EXTRA_DATA_VERSION) return undefined;
  const view = new DataView(extraData.buffer, extraData.byteOffset, extraData.length);
  return {
    fixed: BigInt(view.getUint32(1)) * WEI_PER_KWEI,
    variable: BigInt(view.getUint32(VARIABLE_AT)) * WEI_PER_KWEI,
  };
}

/** @param text - decimal: digits, optionally a point and more digits; already validated */
function parseDecimal(text: string): Fraction {
  const [whole = "", decimals = ""] = text.split(".");
  return {numerator: BigInt(whole + decimals), denominator: 10n ** BigInt(decimals.length)};
}

/** Both not negative, `divisor` above 0. */
function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
