/** What blobs cost after a block: EIP-7918, whose edge few blocks meet. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {blobBaseFee, nextExcessBlobGas} from "../../../../../evm/execution/rules/fees.ts";
import {forkRules} from "../../../../../evm/execution/rules/forkRules.ts";

const BLOB = 131_072n;
const LIMITS = {target: 6n * BLOB, max: 9n * BLOB, updateFraction: 5_007_716n};

test("while a blob's gas costs less than 8 192 gas, a third of the blobs counts, and none is taken off", () => {
  const EXCESS = 240n * BLOB;
  const excessAfter = (baseFeePerGas: bigint, fork: string) =>
    nextExcessBlobGas(
      {baseFeePerGas, blobGasUsed: 6n * BLOB, excessBlobGas: EXCESS},
      LIMITS,
      forkRules(fork),
    );
  // So many blobs that one wei of the base fee more or less is seen.
  const blobFee = blobBaseFee(EXCESS, LIMITS);
  assert.ok(blobFee > 512n, `${blobFee}`);
  // A blob has 131 072 gas: 16 times 8 192.
  assert.equal(excessAfter(16n * blobFee, "osaka"), EXCESS);
  assert.equal(excessAfter(16n * blobFee + 1n, "osaka"), EXCESS + 2n * BLOB);
  assert.equal(excessAfter(16n * blobFee + 1n, "prague"), EXCESS);
});
