/** The search against run functions whose least limit is known. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import type {RunResult} from "../../../../../workers/estimate/call/evmRuns.ts";
import {type GasSearch, searchGasLimit} from "../../../../../workers/estimate/call/gasSearch.ts";
import {propertyRuns} from "../../../../support/soak.ts";

const TOLERANCE = 0.015;
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

  readonly run = async (gasLimit: bigint): Promise<RunResult> => {
    this.limits.push(gasLimit);
    const returned = new Uint8Array(0);
    if (gasLimit >= this.needed) return {failure: undefined, returned, spent: this.spent};
    return {failure: {kind: "outOfGas", reason: "out of gas"}, returned, spent: gasLimit};
  };

  search(search: Partial<GasSearch> = {}): Promise<bigint | RunResult> {
    return searchGasLimit(this.run, {
      upper: 50_000_000n,
      isPlainTransfer: false,
      tolerance: TOLERANCE,
      ...search,
    });
  }
}

test("a call that needs what it spends takes two runs: at the upper bound, and at what it spent", async () => {
  const call = new Call(43_210n, 43_210n);
  assert.equal(await call.search(), 43_210n);
  assert.deepEqual(call.limits, [50_000_000n, 43_210n]);
});

test("a plain transfer takes one run", async () => {
  const call = new Call(21_000n, 21_000n);
  assert.equal(await call.search({isPlainTransfer: true}), 21_000n);
  assert.deepEqual(call.limits, [21_000n]);
});

test("what looks like a plain transfer but needs more is searched like any other", async () => {
  const call = new Call(24_000n, 24_000n);
  assert.equal(await call.search({isPlainTransfer: true}), 24_000n);
  assert.deepEqual(call.limits, [21_000n, 50_000_000n, 24_000n]);
});

test("a plain transfer is not tried above the upper bound", async () => {
  const call = new Call(21_000n, 21_000n);
  const result = await call.search({isPlainTransfer: true, upper: 20_999n});
  assert.equal(typeof result === "bigint" ? undefined : result.failure?.kind, "outOfGas");
  assert.deepEqual(call.limits, [20_999n]);
});

test("a call that fails at the upper bound gives that run, and takes no other", async () => {
  const call = new Call(50_000_001n, 50_000_001n);
  const result = await call.search();
  assert.equal(typeof result === "bigint" ? undefined : result.failure?.reason, "out of gas");
  assert.deepEqual(call.limits, [50_000_000n]);
});

test("gas that must be there without being spent, up to a 63rd and a stipend, takes three runs", async () => {
  const spent = 63_000n;
  // (63 000 + 2300) * 64 / 63 = 66 336.5...
  const call = new Call(66_336n, spent);
  const result = await call.search({tolerance: 0.06});
  assert.equal(result, 66_336n);
  assert.deepEqual(call.limits, [50_000_000n, spent, 66_336n]);
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

test("the result succeeds, is not above the upper bound, and is within the tolerance of the least", async () => {
  await fc.assert(
    fc.asyncProperty(
      search,
      fc.constantFrom(0.001, TOLERANCE, 0.1, 0.5),
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
      },
    ),
    {numRuns: propertyRuns(500)},
  );
});

test("without tolerance the result is the least limit", async () => {
  await fc.assert(
    fc.asyncProperty(search, async ({spent, needed, upper, isPlainTransfer}) => {
      const call = new Call(needed, spent);
      assert.equal(await call.search({upper, isPlainTransfer, tolerance: 0}), needed);
      assert.ok(call.limits.length <= MOST_RUNS, `${call.limits.length} runs`);
    }),
    {numRuns: propertyRuns(500)},
  );
});

test("no limit is run twice", async () => {
  await fc.assert(
    fc.asyncProperty(search, fc.constantFrom(0, TOLERANCE), async ({spent, needed, upper}, tolerance) => {
      const call = new Call(needed, spent);
      await call.search({upper, tolerance});
      assert.equal(new Set(call.limits).size, call.limits.length, String(call.limits));
    }),
    {numRuns: propertyRuns(300)},
  );
});

test("a call that succeeds at some limits and fails at greater ones still gets one that it succeeded with", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt({min: 1n, max: 9n}),
      fc.bigInt({min: 21_000n, max: 1_000_000n}),
      async (every, spent) => {
        const succeeded = new Set<bigint>();
        const run = async (gasLimit: bigint): Promise<RunResult> => {
          const isFine = gasLimit === 50_000_000n || gasLimit % 10n < every;
          if (isFine) succeeded.add(gasLimit);
          const failure = isFine ? undefined : ({kind: "revert", reason: "revert"} as const);
          return {failure, returned: new Uint8Array(0), spent};
        };
        const result = await searchGasLimit(run, {
          upper: 50_000_000n,
          isPlainTransfer: false,
          tolerance: TOLERANCE,
        });
        assert.ok(typeof result === "bigint" && succeeded.has(result));
      },
    ),
  );
});
