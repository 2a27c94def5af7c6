/** Fees of a block, from its parent: base fee (EIP-1559) and blob fee (EIP-4844, EIP-7918). */
import type {BlockHeader} from "../../../storage/block/blockDifference.ts";
import type {ForkRules} from "./forkRules.ts";

/** Base fee of the first london block, and geth's default for a genesis under london. */
export const INITIAL_BASE_FEE = 1_000_000_000n;
export const BLOB_GAS = 131_072n;
const ELASTICITY = 2n;
const MAX_CHANGE = 8n;
const MIN_BLOB_FEE = 1n;
/** EIP-7918: execution gas whose cost is the reserve price of a blob. */
const BLOB_BASE_COST = 8192n;

/** Blobs of a block, in blob gas. */
export interface BlobLimits {
  readonly target: bigint;
  readonly max: bigint;
  readonly updateFraction: bigint;
}

type GasOfParent = Readonly<Record<"gasLimit" | "gasUsed" | "baseFeePerGas", bigint>>;

export function nextBaseFee({gasLimit, gasUsed, baseFeePerGas}: GasOfParent): bigint {
  const target = gasLimit / ELASTICITY;
  if (gasUsed === target) return baseFeePerGas;
  const distance = gasUsed > target ? gasUsed - target : target - gasUsed;
  const change = (baseFeePerGas * distance) / target / MAX_CHANGE;
  if (gasUsed > target) return baseFeePerGas + (change > 1n ? change : 1n);
  return baseFeePerGas - change;
}

type BlobsOfParent = Pick<BlockHeader, "baseFeePerGas" | "blobGasUsed" | "excessBlobGas">;

/** @param limits - those of the block after `parent` */
export function nextExcessBlobGas(parent: BlobsOfParent, limits: BlobLimits, rules: ForkRules): bigint {
  const {baseFeePerGas = 0n, blobGasUsed = 0n, excessBlobGas = 0n} = parent;
  const {target, max} = limits;
  if (excessBlobGas + blobGasUsed < target) return 0n;
  if (rules.isOsaka && BLOB_BASE_COST * baseFeePerGas > BLOB_GAS * blobBaseFee(excessBlobGas, limits))
    return excessBlobGas + (blobGasUsed * (max - target)) / max;
  return excessBlobGas + blobGasUsed - target;
}

/** Wei per blob gas: e^(excess / fraction), by the series of EIP-4844. */
export function blobBaseFee(excessBlobGas: bigint, {updateFraction}: BlobLimits): bigint {
  let sum = 0n;
  let term = MIN_BLOB_FEE * updateFraction;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * excessBlobGas) / (updateFraction * i);
  }
  return sum / updateFraction;
}
