/** What blobs cost after a block: EIP-7918, whose edge few blocks meet. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {nextExcessBlobGas} from "../../../../../evm/execution/rules/fees.ts";
import {forkRules} from "../../../../../evm/execution/rules/forkRules.ts";

const BLOB = 131_072n;
const LIMITS = {target: 6n * BLOB, max: 9n * BLOB, updateFraction: 5_007_716n};

test("while a blob's gas costs less than 8 192 gas, a third of the blobs counts, and none is taken off", () => {
  const excessAfter = (baseFeePerGas: bigint, fork: string) =>
    nextExcessBlobGas({baseFeePerGas, blobGasUsed: 6n * BLOB, excessBlobGas: BLOB}, LIMITS, forkRules(fork));
  // A blob's gas costs 131 072 wei: as much as 8 192 gas at a base fee of 16.
  assert.equal(excessAfter(16n, "osaka"), BLOB);
  assert.equal(excessAfter(17n, "osaka"), BLOB + 2n * BLOB);
  assert.equal(excessAfter(17n, "prague"), BLOB);
});
