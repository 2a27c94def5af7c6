/** Checks a header against its parent's: timestamp, gas limit (EIP-1985), base fee (EIP-1559), excess blob gas. */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import type {BlockHead} from "./blockHead.ts";
import {BlockMismatch} from "./executionError.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {INITIAL_BASE_FEE, nextBaseFee, nextExcessBlobGas} from "./rules/fees.ts";
import {forkRules} from "./rules/forkRules.ts";

/** From one block to the next, the gas limit changes by less than 1/1024. */
const LIMIT_STEP = 1024n;
const MIN_GAS_LIMIT = 5000n;

/** @param parent - if the store has only a part of it, nothing is checked. @throws BlockMismatch naming the field */
export function checkParent(head: BlockHead, parent: BlockHeader, forks: ForkSchedule, fork: string): void {
  const {number, timestamp, gasLimit, gasUsed} = parent;
  if (timestamp === undefined || gasLimit === undefined || gasUsed === undefined) return;
  // An equal timestamp is accepted: anvil, and clique with period 0, seal several blocks a second.
  if (head.timestamp < timestamp)
    throw new BlockMismatch(`timestamp: expected ${timestamp} or later, the parent's, got ${head.timestamp}`);
  const rules = forkRules(fork);
  // A genesis file may set a base fee before london, which has no effect.
  const baseFeePerGas = forks.isActive("london", {number, timestamp}) ? parent.baseFeePerGas : undefined;
  const isLondonBlock = baseFeePerGas === undefined && rules.hasBaseFee;
  const from = isLondonBlock ? gasLimit * 2n : gasLimit;
  const step = from / LIMIT_STEP;
  const lowest = from - step + 1n > MIN_GAS_LIMIT ? from - step + 1n : MIN_GAS_LIMIT;
  const highest = from + step - 1n;
  if (head.gasLimit < lowest || head.gasLimit > highest)
    throw new BlockMismatch(
      `gas limit: expected ${lowest} to ${highest} from its parent's, got ${head.gasLimit}`,
    );
  if (!rules.hasBaseFee) return;
  const baseFee =
    baseFeePerGas === undefined ? INITIAL_BASE_FEE : nextBaseFee({gasLimit, gasUsed, baseFeePerGas});
  checkFigure("base fee", baseFee, head.baseFeePerGas);
  if (rules.hasBlobs)
    checkFigure(
      "excess blob gas",
      nextExcessBlobGas(parent, forks.blobLimits(fork), rules),
      head.excessBlobGas,
    );
}

function checkFigure(name: string, expected: bigint, got: bigint | undefined): void {
  if (expected !== got) throw new BlockMismatch(`${name}: expected ${expected} from its parent, got ${got}`);
}
