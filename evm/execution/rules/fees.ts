/**
 * What gas and blobs cost in a block, from its parent: EIP-1559, EIP-4844 and EIP-7918.
 */
import type {ForkRules} from "./forkRules.ts";

/** Of the first block of london, also geth's default for a genesis under its rules. */
export const INITIAL_BASE_FEE = 1_000_000_000n;
export const BLOB_GAS = 131_072n;
const ELASTICITY = 2n;
const MAX_CHANGE = 8n;
const MIN_BLOB_FEE = 1n;
/** EIP-7918: gas that a blob's fee is compared with. */
const BLOB_BASE_COST = 8192n;

/** How many blobs a block may have, in gas. */
export interface BlobLimits {
  readonly target: bigint;
  readonly max: bigint;
  readonly updateFraction: bigint;
}

interface GasOfParent {
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly baseFeePerGas: bigint;
}

export function nextBaseFee({gasLimit, gasUsed, baseFeePerGas}: GasOfParent): bigint {
  const target = gasLimit / ELASTICITY;
  if (gasUsed === target) return baseFeePerGas;
  const distance = gasUsed > target ? gasUsed - target : target - gasUsed;
  const change = (baseFeePerGas * distance) / target / MAX_CHANGE;
  if (gasUsed > target) return baseFeePerGas + (change > 1n ? change : 1n);
  return baseFeePerGas - change;
}

interface BlobsOfParent {
  readonly baseFeePerGas?: bigint | undefined;
  readonly blobGasUsed?: bigint | undefined;
  readonly excessBlobGas?: bigint | undefined;
}

/** @param limits - of the block after the parent */
export function nextExcessBlobGas(parent: BlobsOfParent, limits: BlobLimits, rules: ForkRules): bigint {
  const {baseFeePerGas = 0n, blobGasUsed = 0n, excessBlobGas = 0n} = parent;
  const {target, max} = limits;
  if (excessBlobGas + blobGasUsed < target) return 0n;
  if (rules.isOsaka && BLOB_BASE_COST * baseFeePerGas > BLOB_GAS * blobBaseFee(excessBlobGas, limits))
    return excessBlobGas + (blobGasUsed * (max - target)) / max;
  return excessBlobGas + blobGasUsed - target;
}

/** Wei per gas: e^(excess / fraction), by the sum that EIP-4844 gives. */
export function blobBaseFee(excessBlobGas: bigint, {updateFraction}: BlobLimits): bigint {
  let sum = 0n;
  let term = MIN_BLOB_FEE * updateFraction;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * excessBlobGas) / (updateFraction * i);
  }
  return sum / updateFraction;
}
