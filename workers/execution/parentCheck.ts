/**
 * Compares a header with its parent's: timestamp, gas limit (EIP-1985's bounds), base fee (EIP-1559) and excess blob gas (EIP-4844,
 * EIP-7918).
 */
import {createBlockHeader} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import type {BlockHead} from "./blockHead.ts";

/** From one block to the next, the gas limit changes by less than this part of it. */
const LIMIT_STEP = 1024n;
const MIN_GAS_LIMIT = 5000n;

/**
 * @param parent - not compared if its source gave no whole header
 * @param common - set to the fork of `head`
 * @throws Error that names the field, what it must be, and what it is
 */
export function checkParent(head: BlockHead, parent: BlockHeader, common: Common): void {
  const {timestamp, gasLimit, gasUsed, baseFeePerGas, blobGasUsed, excessBlobGas} = parent;
  if (timestamp === undefined || gasLimit === undefined || gasUsed === undefined) return;
  // An equal one is taken: anvil, and clique with period 0, seal several blocks in a second.
  if (head.timestamp < timestamp)
    throw new Error(`timestamp: expected ${timestamp} or later as its parent's, got ${head.timestamp}`);
  const isLondonBlock = baseFeePerGas === undefined && common.isActivatedEIP(1559);
  const from = isLondonBlock ? gasLimit * 2n : gasLimit;
  const step = from / LIMIT_STEP;
  const lowest = from - step + 1n > MIN_GAS_LIMIT ? from - step + 1n : MIN_GAS_LIMIT;
  const highest = from + step - 1n;
  if (head.gasLimit < lowest || head.gasLimit > highest)
    throw new Error(`gas limit: expected ${lowest} to ${highest} by its parent's, got ${head.gasLimit}`);
  if (!common.isActivatedEIP(1559)) return;
  const fields = {
    gasLimit,
    gasUsed,
    ...(baseFeePerGas !== undefined && {baseFeePerGas}),
    ...(blobGasUsed !== undefined && {blobGasUsed}),
    ...(excessBlobGas !== undefined && {excessBlobGas}),
  };
  const header = createBlockHeader(fields, {common, skipConsensusFormatValidation: true});
  checkFigure(
    "base fee",
    isLondonBlock ? common.param("initialBaseFee") : header.calcNextBaseFee(),
    head.baseFeePerGas,
  );
  if (common.isActivatedEIP(4844))
    checkFigure("excess blob gas", header.calcNextExcessBlobGas(common), head.excessBlobGas);
}

function checkFigure(name: string, expected: bigint, got: bigint | undefined): void {
  if (expected !== got) throw new Error(`${name}: expected ${expected} by its parent, got ${got}`);
}
