/** Decimal text as a fraction, so that arithmetic with it is exact. */

/** numerator / denominator; the denominator is a power of ten. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** @param text - digits, and perhaps a point and digits; checked where it comes in */
export function parseDecimal(text: string): Fraction {
  const [whole = "", decimals = ""] = text.split(".");
  return {numerator: BigInt(whole + decimals), denominator: 10n ** BigInt(decimals.length)};
}
