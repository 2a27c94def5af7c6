/** The search against run functions whose least limit is known. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {finish, type Waits} from "../../../../../evm/interpreter/waits.ts";
import type {RunResult} from "../../../../../workers/estimate/call/evmRuns.ts";
import {type GasSearch, searchGasLimit} from "../../../../../workers/estimate/call/gasSearch.ts";
import {propertyRuns} from "../../../../support/soak.ts";

const TOLERANCE = 0.015;
const UPPER = 50_000_000n;
const PLAIN = {isPlainTransfer: true};
/** Doubling, then halving, from 2^24 gas down to one. */
const MOST_RUNS = 3 + 2 * 26;

/** A call that needs `needed` gas and spends `spent`, less where it fails. */
class Call {
  readonly needed: bigint;
  readonly spent: bigint;
  readonly limits: bigint[] = [];

  constructor(needed: bigint, spent: bigint) {
    this.needed = needed;
    this.spent = spent;
  }

  *run(gasLimit: bigint): Waits<RunResult> {
    yield Promise.resolve();
    this.limits.push(gasLimit);
    const returned = new Uint8Array(0);
    if (gasLimit >= this.needed) return {failure: undefined, returned, spent: this.spent};
    return {failure: {kind: "outOfGas", reason: "out of gas"}, returned, spent: gasLimit};
  }

  search(search: Partial<GasSearch> = {}): Promise<bigint | RunResult> {
    const whole = {upper: UPPER, isPlainTransfer: false, tolerance: TOLERANCE, ...search};
    return finish(searchGasLimit(gasLimit => this.run(gasLimit), whole));
  }
}

/** `undefined`: the search ends with the run at the upper bound, which fails. */
for (const [title, needed, spent, search, expected, limits] of [
  [
    "a call that needs what it spends: upper bound, and that",
    43_210n,
    43_210n,
    {},
    43_210n,
    [UPPER, 43_210n],
  ],
  ["a plain transfer: one run", 21_000n, 21_000n, PLAIN, 21_000n, [21_000n]],
  ["what only looks like a plain transfer", 24_000n, 24_000n, PLAIN, 24_000n, [21_000n, UPPER, 24_000n]],
  ["a plain transfer above the bound", 21_000n, 21_000n, {...PLAIN, upper: 20_999n}, undefined, [20_999n]],
  ["a call that fails at the upper bound", UPPER + 1n, UPPER + 1n, {}, undefined, [UPPER]],
  // (63 000 + 2300) * 64 / 63 = 66 336.5...
  ["a 63rd and a stipend unspent", 66_336n, 63_000n, {tolerance: 0.06}, 66_336n, [UPPER, 63_000n, 66_336n]],
] as const)
  test(`the runs of ${title}`, async () => {
    const call = new Call(needed, spent);
    const result = await call.search(search);
    if (expected !== undefined) assert.equal(result, expected);
    else assert.equal(typeof result === "bigint" ? result : result.failure?.kind, "outOfGas");
    assert.deepEqual(call.limits, limits);
  });

const search = fc
  .record({
    spent: fc.oneof(fc.bigInt({min: 21_000n, max: 200_000n}), fc.bigInt({min: 21_000n, max: 50_000_000n})),
    /** Parts in 10 000 that are needed beyond what is spent. */
    more: fc.oneof(fc.constant(0n), fc.bigInt({min: 0n, max: 300n}), fc.bigInt({min: 0n, max: 1_000_000n})),
    room: fc.oneof(fc.constant(0n), fc.bigInt({min: 0n, max: 50_000_000n})),
    isPlainTransfer: fc.boolean(),
  })
  .map(({spent, more, room, isPlainTransfer}) => {
    const needed = spent + (spent * more) / 10_000n;
    return {spent, needed, upper: needed + room, isPlainTransfer};
  });

test("the result succeeds, is not above the upper bound, and is within the tolerance of the least; no limit is run twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      search,
      fc.constantFrom(0, 0.001, TOLERANCE, 0.1, 0.5),
      async ({spent, needed, upper, isPlainTransfer}, tolerance) => {
        const call = new Call(needed, spent);
        const result = await call.search({upper, isPlainTransfer, tolerance});
        assert.ok(typeof result === "bigint");
        assert.ok(result >= needed && result <= upper, `${result} for ${needed} up to ${upper}`);
        // Neighbours differ by 1, which is more than any tolerance of a tiny limit.
        const excess = Number(result - needed + 1n) / Number(result);
        assert.ok(result === needed || excess <= tolerance, `${result} for ${needed}, ${excess}`);
        assert.ok(call.limits.includes(result), "never run");
        assert.ok(call.limits.every(limit => limit <= upper));
        assert.ok(call.limits.length <= MOST_RUNS, `${call.limits.length} runs`);
        // What was tried as a plain transfer may be what the call spends.
        const isTwice = new Set(call.limits).size < call.limits.length;
        assert.ok(isPlainTransfer || !isTwice, String(call.limits));
      },
    ),
    {numRuns: propertyRuns(1000)},
  );
});

test("a call that succeeds at some limits and fails at greater ones still gets one that it succeeded with", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt({min: 1n, max: 9n}),
      fc.bigInt({min: 21_000n, max: 1_000_000n}),
      async (every, spent) => {
        const succeeded = new Set<bigint>();
        function* run(gasLimit: bigint): Waits<RunResult> {
          yield Promise.resolve();
          const isFine = gasLimit === 50_000_000n || gasLimit % 10n < every;
          if (isFine) succeeded.add(gasLimit);
          const failure = isFine ? undefined : ({kind: "revert", reason: "revert"} as const);
          return {failure, returned: new Uint8Array(0), spent};
        }
        const search = {upper: 50_000_000n, isPlainTransfer: false, tolerance: TOLERANCE};
        const result = await finish(searchGasLimit(run, search));
        assert.ok(typeof result === "bigint" && succeeded.has(result));
      },
    ),
  );
});
