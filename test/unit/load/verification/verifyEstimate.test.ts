/** Estimates: their form can be checked, whatever their value. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {verifyEstimate} from "../../../../load/verification/verifyEstimate.ts";

test("an estimate has the fields and quantities of its method, and is not below a transfer's gas", () => {
  const estimate = {baseFeePerGas: "0x7", gasLimit: "0x5208", priorityFeePerGas: "0x0"};
  verifyEstimate("chain", estimate);
  verifyEstimate("eth", "0x5208");
  assert.throws(() => verifyEstimate("chain", {...estimate, extra: "0x1"}), /expected the fields baseFee/);
  assert.throws(() => verifyEstimate("chain", {...estimate, gasLimit: "0x1"}), /gasLimit: .* got 1$/);
  assert.throws(
    () => verifyEstimate("chain", {...estimate, baseFeePerGas: 7}),
    /baseFeePerGas: expected a quantity, got 7/,
  );
  assert.throws(() => verifyEstimate("chain", null), /expected the fields baseFee/);
  assert.throws(() => verifyEstimate("eth", "0x05208"), /expected a quantity/);
  assert.throws(() => verifyEstimate("eth", "0x5207"), /got 20999$/);
});
