/** What a transaction pays before it executes, fork by fork. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {paidFieldsOf} from "../../../../workers/estimate/call/callTransaction.ts";
import {forkRules} from "../../../../workers/execution/rules/forkRules.ts";
import {type PaidGas, paidGas} from "../../../../workers/execution/rules/gas.ts";
import type {EstimateCall} from "../../../../workers/job/estimateCall.ts";
import {HARDFORKS} from "../../../../workers/job/estimateSettings.ts";

/** To an account, or a creation. Gas of: nothing, a zero byte, another byte, and the floor for that byte. */
const EXPECTED: Readonly<Record<string, readonly [bigint, bigint, bigint, bigint, bigint]>> = {
  homestead: [21_000n, 53_000n, 4n, 68n, 0n],
  petersburg: [21_000n, 53_000n, 4n, 68n, 0n],
  istanbul: [21_000n, 53_000n, 4n, 16n, 0n],
  london: [21_000n, 53_000n, 4n, 16n, 0n],
  cancun: [21_000n, 53_000n, 4n, 16n, 0n],
  prague: [21_000n, 53_000n, 4n, 16n, 21_040n],
  osaka: [21_000n, 53_000n, 4n, 16n, 21_040n],
};

function createCall(data: readonly number[], to?: Uint8Array): EstimateCall {
  return {block: 0, value: 0n, data: Uint8Array.from(data), ...(to !== undefined && {to})};
}

test("the gas of a transaction's bytes is that of its fork", () => {
  const to = new Uint8Array(20);
  for (const [fork, [call, creation, zero, other, floor]] of Object.entries(EXPECTED)) {
    assert.ok(HARDFORKS.includes(fork));
    const paid = (data: readonly number[], to?: Uint8Array): PaidGas =>
      paidGas(paidFieldsOf(createCall(data, to)), forkRules(fork));
    const gasOf = (data: readonly number[], to?: Uint8Array): bigint => paid(data, to).intrinsic;
    assert.equal(gasOf([], to), call, fork);
    assert.equal(gasOf([]), creation, fork);
    assert.equal(gasOf([0, 0], to) - call, 2n * zero, fork);
    assert.equal(gasOf([1, 255], to) - call, 2n * other, fork);
    assert.equal(paid([1], to).floor, floor, fork);
  }
});
