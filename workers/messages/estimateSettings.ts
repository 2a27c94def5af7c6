/** How gas estimates are made: the same for every call of a process. */

/** Hard forks that a store without a genesis config can be told to use. Each includes those before it. */
export const HARDFORKS: readonly string[] = [
  "berlin",
  "london",
  "paris",
  "shanghai",
  "cancun",
  "prague",
  "osaka",
];

export interface EstimateSettings {
  /** Gas; the upper bound of every search. */
  readonly gasCap: number;
  /** For the execution of one call, all its runs together. At 25 million gas a second, enough for `gasCap`. */
  readonly timeMs: number;
  /** The search ends when (high - low) / high is below it; 0 is exact. The default is that of the standard nodes. */
  readonly gasTolerance: number;
  /** One of HARDFORKS, for every block, whatever the genesis config says; undefined: by the config. */
  readonly hardfork: string | undefined;
  readonly fee: FeeSettings;
}

/** The file of --fees (docs/gas.md, "priorityFeePerGas"). Decimal text where a fraction is allowed: it is exact. */
export interface FeeSettings {
  readonly model: "verification" | "extra-data";
  /** Decimal, e.g. "1.2". */
  readonly minMargin: string;
  /** Gas of layer 1. */
  readonly verificationGasCost: bigint;
  readonly verificationCapacity: bigint;
  /** Decimal. */
  readonly gasPriceRatio: string;
  /** Wei. */
  readonly gasPriceAdjustment: bigint;
  /** Wei. */
  readonly minGasPrice: bigint;
  /** Wei; for blocks whose extraData says nothing (model extra-data). */
  readonly fixedCost: bigint;
  readonly variableCost: bigint;
  /** Round the compressed size up to whole field elements, as the live network does (model extra-data). */
  readonly packAlign: boolean;
}

/** The settings of a service without flags (docs/gas.md). */
export const DEFAULT_ESTIMATE_SETTINGS: EstimateSettings = {
  gasCap: 50_000_000,
  timeMs: 2000,
  gasTolerance: 0.015,
  hardfork: undefined,
  fee: {
    model: "verification",
    minMargin: "1.0",
    verificationGasCost: 1_200_000n,
    verificationCapacity: 90_000n,
    gasPriceRatio: "15",
    gasPriceAdjustment: 0n,
    minGasPrice: 10_000_000n,
    fixedCost: 30_000_000n,
    variableCost: 10_000_000n,
    packAlign: false,
  },
};
