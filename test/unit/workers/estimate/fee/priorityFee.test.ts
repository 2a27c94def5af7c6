/** Both fee models against figures worked out by hand. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {PriorityFee} from "../../../../../workers/estimate/fee/priorityFee.ts";
import type {FeeSettings} from "../../../../../workers/messages/estimateSettings.ts";
import {SETTINGS} from "../../../../support/estimates/estimateStore.ts";

const VERIFICATION = SETTINGS.fee;
const EXTRA_DATA: FeeSettings = {...VERIFICATION, model: "extra-data", minMargin: "1.2"};
/** 0x01, then 0x00989680 = 10 000 000, 0x015eb3c8 = 22 983 624 and 0x0000ea60 = 60 000 kwei. */
const EXAMPLE = Buffer.from("0100989680015eb3c80000ea60", "hex");

interface Inputs {
  readonly gasLimit?: bigint;
  readonly compressedSize?: number;
  readonly baseFee?: bigint;
  readonly extraData?: Uint8Array | undefined;
}

function feeOf(settings: FeeSettings, inputs: Inputs = {}): bigint {
  return new PriorityFee(settings).of({
    gasLimit: 21_000n,
    compressedSize: 100,
    baseFee: 7n,
    extraData: undefined,
    ...inputs,
  });
}

test("verification: the defaults give margin * ratio * cost * size * price / (gas limit * capacity)", () => {
  // 15 * 1 200 000 * 100 * 10 000 000 / (21 000 * 90 000) = 1.8e16 / 1.89e9 = 9 523 809.52..., but at least 10^7 - 7.
  assert.equal(feeOf(VERIFICATION), 9_999_993n);
  assert.equal(feeOf({...VERIFICATION, minMargin: "01.50"}, {gasLimit: 1n}), 300_000_000_000n);
  // 150 bytes: 2.7e16 / 1.89e9 = 14 285 714.28...
  assert.equal(feeOf(VERIFICATION, {compressedSize: 150}), 14_285_715n);
  // 105 bytes: 1.89e16 / 1.89e9 = 10 000 000 exactly.
  assert.equal(feeOf(VERIFICATION, {compressedSize: 105}), 10_000_000n);
  // Ten times the gas limit, a tenth of the fee: 1 428 571.4 is below the least.
  assert.equal(feeOf(VERIFICATION, {compressedSize: 150, gasLimit: 210_000n}), 9_999_993n);
});

test("verification: the adjustment is added before the least is taken", () => {
  // 9 523 809.5 rounds up to 9 523 810; 476 183 more reach the least, 9 999 993.
  assert.equal(feeOf({...VERIFICATION, gasPriceAdjustment: 476_183n}), 9_999_993n);
  assert.equal(feeOf({...VERIFICATION, gasPriceAdjustment: 476_184n}), 9_999_994n);
});

test("verification: the least is minGasPrice - baseFee, and nothing below 0 comes out", () => {
  const free = {...VERIFICATION, minGasPrice: 0n};
  assert.equal(feeOf(free), 0n);
  assert.equal(feeOf({...free, gasPriceAdjustment: 5n}), 5n);
  const size = {compressedSize: 0};
  assert.equal(feeOf({...VERIFICATION, minGasPrice: 8n}, size), 1n);
  assert.equal(feeOf({...VERIFICATION, minGasPrice: 7n}, size), 0n);
  assert.equal(feeOf({...VERIFICATION, minGasPrice: 6n}, size), 0n);
  assert.equal(feeOf(VERIFICATION, {...size, baseFee: 0n}), 10_000_000n);
});

test("the priority fee never falls short of the exact one, and by less than a wei", () => {
  const positive = (max: bigint) => fc.bigInt({min: 1n, max});
  fc.assert(
    fc.property(
      fc.record({
        margin: positive(10n ** 12n),
        ratio: positive(10n ** 6n),
        cost: positive(10n ** 8n),
        capacity: positive(10n ** 8n),
        size: fc.nat(200_000),
        price: positive(10n ** 12n),
        gasLimit: positive(50_000_000n),
      }),
      ({margin, ratio, cost, capacity, size, price, gasLimit}) => {
        const decimal = (value: bigint, places: number) => {
          const digits = value.toString().padStart(places + 1, "0");
          return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
        };
        const fee = feeOf(
          {
            ...VERIFICATION,
            minMargin: decimal(margin, 9),
            gasPriceRatio: decimal(ratio, 3),
            verificationGasCost: cost,
            verificationCapacity: capacity,
            minGasPrice: price,
          },
          {compressedSize: size, gasLimit, baseFee: price},
        );
        // fee >= exact > fee - 1, both times the divisor.
        const divisor = 10n ** 12n * gasLimit * capacity;
        const exact = margin * ratio * cost * BigInt(size) * price;
        assert.ok(fee * divisor >= exact && (fee - 1n) * divisor < exact);
      },
    ),
  );
});

test("extra-data: the block's costs, in kwei", () => {
  const whole: FeeSettings = {...EXTRA_DATA, minMargin: "1"};
  // floor(22 983 624 000 * 100 / 21 000) = floor(109 445 828.57) = 109 445 828; + 10 000 000 000.
  assert.equal(feeOf(whole, {extraData: EXAMPLE}), 10_109_445_828n);
  // * 1.2 = 12 131 334 993.6
  assert.equal(feeOf(EXTRA_DATA, {extraData: EXAMPLE}), 12_131_334_994n);
  // 42 000 bytes for 21 000 gas: exactly twice the variable cost.
  assert.equal(
    feeOf(whole, {extraData: EXAMPLE, compressedSize: 42_000}),
    10_000_000_000n + 2n * 22_983_624_000n,
  );
  assert.equal(feeOf(whole, {extraData: EXAMPLE, compressedSize: 0}), 10_000_000_000n);
});

test("extra-data: the division is rounded down before the margin, and the product up", () => {
  const settings: FeeSettings = {...EXTRA_DATA, fixedCost: 0n, variableCost: 1n};
  // floor(9 / 10) = 0; floor(10 / 10) * 1.2 = 1.2; floor(19 / 10) * 1.2 = 1.2; 5 * 1.2 = 6 exactly.
  for (const [size, fee] of [
    [9, 0n],
    [10, 2n],
    [19, 2n],
    [20, 3n],
    [50, 6n],
    [59, 6n],
    [60, 8n],
  ] as const)
    assert.equal(feeOf(settings, {compressedSize: size, gasLimit: 10n}), fee, `${size}`);
});

test("extra-data: --pack-align counts 32 bytes for every 254 bits that were begun", () => {
  const settings = {...EXTRA_DATA, minMargin: "1", fixedCost: 0n, variableCost: 1n, packAlign: true};
  // 31 bytes are 248 bits, 127 bytes are 1016 bits = 4 elements, 100 bytes are 800 bits = 3.15 elements.
  for (const [size, packed] of [
    [0, 0n],
    [1, 32n],
    [31, 32n],
    [32, 64n],
    [63, 64n],
    [64, 96n],
    [100, 128n],
    [127, 128n],
    [128, 160n],
  ] as const)
    assert.equal(feeOf(settings, {compressedSize: size, gasLimit: 1n}), packed, `${size}`);
});

test("extra-data: nothing in the block, too short, or of another version, falls back to the configured costs", () => {
  // 1.2 * (floor(10 000 000 * 100 / 21 000) + 30 000 000) = 1.2 * (47 619 + 30 000 000) = 36 057 142.8
  const fallback = 36_057_143n;
  const otherVersion = Buffer.from(EXAMPLE);
  otherVersion[0] = 2;
  for (const extraData of [
    undefined,
    new Uint8Array(0),
    Uint8Array.of(1),
    EXAMPLE.subarray(0, 12),
    otherVersion,
    new Uint8Array(32),
    Buffer.from("proofd test chain, no prices here", "latin1"),
  ])
    assert.equal(feeOf(EXTRA_DATA, {extraData}), fallback, String(extraData));
});

test("extra-data: 13 bytes are enough, and more are ignored", () => {
  const expected = feeOf(EXTRA_DATA, {extraData: EXAMPLE});
  const longer = Buffer.concat([EXAMPLE, new Uint8Array(100).fill(0xff)]);
  assert.equal(feeOf(EXTRA_DATA, {extraData: longer}), expected);
  // A view in the middle of other bytes, as LevelDB hands them out.
  assert.equal(feeOf(EXTRA_DATA, {extraData: longer.subarray(0, 20)}), expected);
  const shifted = Buffer.concat([Uint8Array.of(9, 9, 9), EXAMPLE]).subarray(3);
  assert.equal(feeOf(EXTRA_DATA, {extraData: shifted}), expected);
});

test("extra-data: the largest costs there are", () => {
  const extraData = Buffer.from(`01${"ff".repeat(12)}`, "hex");
  // 4 294 967 295 000 * (131 072 / 1 + 1) * 1.2, a whole number.
  assert.equal(
    feeOf(EXTRA_DATA, {extraData, compressedSize: 131_072, gasLimit: 1n}),
    (4_294_967_295_000n * 131_073n * 12n) / 10n,
  );
});
