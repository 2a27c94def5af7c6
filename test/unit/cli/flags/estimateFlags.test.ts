import assert from "node:assert/strict";
import {availableParallelism} from "node:os";
import {test} from "node:test";
import {ESTIMATE_FLAGS, readEstimateOptions} from "../../../../cli/flags/estimateFlags.ts";
import type {EstimateOptions} from "../../../../service/serviceOptions.ts";
import type {EstimateSettings} from "../../../../workers/job/estimateSettings.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

const DEFAULTS: EstimateSettings = {
  gasCap: 50_000_000,
  timeMs: 2000,
  gasTolerance: 0.015,
  fee: {
    model: "verification",
    minMargin: "1.0",
    verificationGasCost: 1_200_000n,
    verificationCapacity: 90_000n,
    gasPriceRatio: "15",
    gasPriceAdjustment: 0n,
    minGasPrice: 10_000_000n,
    fixedCost: 30_000_000n,
    variableCost: 10_000_000n,
    packAlign: false,
  },
};

function read(args: readonly string[], variables: Readonly<Record<string, string>> = {}): EstimateOptions {
  return readFlags(ESTIMATE_FLAGS, readEstimateOptions, args, variables);
}

function assertRefused(args: readonly string[], message: RegExp, variables = {}): void {
  assertUsageError(() => read(args, variables), message);
}

test("without flags estimates have the default settings", () => {
  const {settings, workers, isEnabled, gateway} = read([]);
  assert.deepEqual(settings, DEFAULTS);
  assert.equal(workers, Math.max(1, Math.floor((availableParallelism() - 1) / 2)));
  assert.equal(isEnabled, true);
  assert.equal(gateway, undefined);
});

test("every flag of the model is read, and the same from its variable", () => {
  const flags = {
    "gas-cap": "21000",
    "estimate-time": "5",
    "gas-tolerance": "0",
    hardfork: "cancun",
    "estimate-workers": "3",
    "min-margin": "1.123456789",
    "verification-gas-cost": "0x10",
    "verification-capacity": "1",
    "gas-price-ratio": "0.5",
    "gas-price-adjustment": String(2n ** 256n - 1n),
    "min-gas-price": "0",
  };
  const settings: EstimateSettings = {
    gasCap: 21_000,
    timeMs: 5,
    gasTolerance: 0,
    hardfork: "cancun",
    fee: {
      ...DEFAULTS.fee,
      minMargin: "1.123456789",
      verificationGasCost: 16n,
      verificationCapacity: 1n,
      gasPriceRatio: "0.5",
      gasPriceAdjustment: 2n ** 256n - 1n,
      minGasPrice: 0n,
    },
  };
  const byFlag = read(Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]));
  assert.deepEqual(byFlag, {settings, workers: 3, isEnabled: true, gateway: undefined});
  const variables = Object.entries(flags).map(([name, value]) => [
    `PROOFD_${name.replaceAll("-", "_").toUpperCase()}`,
    value,
  ]);
  assert.deepEqual(read([], Object.fromEntries(variables)), byFlag);
});

test("the least margin is 1.2 with model extra-data, unless it is given", () => {
  const {fee} = read(["--fee-model", "extra-data", "--fixed-cost", "7", "--variable-cost", "0x8"]).settings;
  assert.deepEqual(fee, {
    ...DEFAULTS.fee,
    model: "extra-data",
    minMargin: "1.2",
    fixedCost: 7n,
    variableCost: 8n,
  });
  assert.equal(read(["--fee-model", "extra-data", "--min-margin", "1"]).settings.fee.minMargin, "1");
});

test("--pack-align rounds the compressed size with model extra-data, as flag or variable", () => {
  const model = ["--fee-model", "extra-data"];
  assert.equal(read([...model, "--pack-align"]).settings.fee.packAlign, true);
  assert.equal(read(model, {PROOFD_PACK_ALIGN: "1"}).settings.fee.packAlign, true);
  assert.equal(read(model).settings.fee.packAlign, false);
  assert.equal(read(model, {PROOFD_PACK_ALIGN: "0"}).settings.fee.packAlign, false);
});

test("a value out of its range or form is refused", () => {
  const table: [string, string, RegExp][] = [
    ["--gas-cap", "20999", /Expected a whole number from 21000 to 4294967296/],
    ["--gas-cap", "4294967297", /Expected a whole number/],
    ["--estimate-time", "0", /Expected a whole number from 1/],
    ["--gas-tolerance", "1", /Expected a fraction from 0 to below 1/],
    ["--gas-tolerance", "-0.1", /Expected a fraction/],
    ["--gas-tolerance", "1e-3", /Expected a fraction/],
    ["--gas-tolerance", "", /Expected a fraction/],
    ["--hardfork", "frontier", /Allowed choices are homestead,/],
    ["--hardfork", "London", /Allowed choices/],
    ["--hardfork", "amsterdam", /argument .amsterdam. is invalid. Allowed choices are .*, osaka\./],
    ["--estimate-workers", "0", /Expected a whole number from 1 to 256/],
    ["--fee-model", "fixed", /Allowed choices are verification, extra-data/],
    ["--min-margin", "1.1234567890", /Expected a number such as 1\.2, with at most 9 digits after the point/],
    ["--min-margin", "-1", /Expected a number/],
    ["--min-margin", "1.", /Expected a number/],
    ["--gas-price-ratio", ".5", /Expected a number/],
    ["--gas-price-ratio", "9".repeat(1000), /Expected a number/],
    ["--verification-gas-cost", "1.5", /Expected a whole number from 0 to 2\^256 - 1, decimal or 0x hex/],
    ["--verification-capacity", "0", /Expected a whole number from 1/],
    ["--min-gas-price", String(2n ** 256n), /Expected a whole number/],
    ["--gas-price-adjustment", "-1", /Expected a whole number/],
    ["--fixed-cost", "10gwei", /Expected a whole number/],
    ["--variable-cost", "", /Expected a whole number/],
  ];
  for (const [flag, value, message] of table) assertRefused([flag, value], message);
  assertRefused([], /value '5' from env 'PROOFD_GAS_CAP' is invalid/, {PROOFD_GAS_CAP: "5"});
});

test("--no-estimate switches estimates off, alone or with a gateway, as flag or variable", () => {
  const gateway = "https://gateway.example/v1?key=1";
  assert.equal(read(["--no-estimate"]).isEnabled, false);
  assert.equal(read(["--no-estimate"]).gateway, undefined);
  assert.equal(read(["--no-estimate", "--gateway", gateway]).gateway?.href, gateway);
  const byVariable = read([], {PROOFD_NO_ESTIMATE: "1", PROOFD_GATEWAY: gateway});
  assert.equal(byVariable.isEnabled, false);
  assert.equal(byVariable.gateway?.href, gateway);
});

test("the variable PROOFD_NO_ESTIMATE leaves estimates on where it is 0, false or empty", () => {
  for (const value of ["0", "false", ""])
    assert.equal(read([], {PROOFD_NO_ESTIMATE: value}).isEnabled, true, value);
});

test("a flag that would have no effect is refused and says why", () => {
  const table: [string, RegExp][] = [
    ["--gateway http://x", /--gateway has no effect without --no-estimate/],
    ["--fixed-cost 1", /--fixed-cost has no effect with --fee-model verification/],
    ["--variable-cost 1", /--variable-cost has no effect with --fee-model verification/],
    ["--pack-align", /--pack-align has no effect with --fee-model verification/],
    ["--no-estimate --pack-align", /--pack-align has no effect with --no-estimate/],
    [
      "--fee-model extra-data --gas-price-ratio 1",
      /--gas-price-ratio has no effect with --fee-model extra-data/,
    ],
    ["--fee-model extra-data --verification-gas-cost 1", /no effect with --fee-model extra-data/],
    ["--fee-model extra-data --verification-capacity 1", /no effect with --fee-model extra-data/],
    ["--fee-model extra-data --gas-price-adjustment 1", /no effect with --fee-model extra-data/],
    ["--fee-model extra-data --min-gas-price 1", /no effect with --fee-model extra-data/],
    ["--no-estimate --gas-cap 30000", /--gas-cap has no effect with --no-estimate/],
    ["--no-estimate --estimate-time 1", /--estimate-time has no effect with --no-estimate/],
    ["--no-estimate --gas-tolerance 0", /--gas-tolerance has no effect/],
    ["--no-estimate --hardfork london", /--hardfork has no effect/],
    ["--no-estimate --estimate-workers 1", /--estimate-workers has no effect/],
    ["--no-estimate --fee-model extra-data", /--fee-model has no effect/],
    ["--no-estimate --min-margin 1", /--min-margin has no effect/],
    ["--no-estimate --fixed-cost 1", /--fixed-cost has no effect with --no-estimate/],
    ["--no-estimate --min-gas-price 1", /--min-gas-price has no effect with --no-estimate/],
  ];
  for (const [line, message] of table) assertRefused(line.split(" "), message);
});

test("a variable that would have no effect is refused by its own name", () => {
  const message = /variable PROOFD_FIXED_COST has no effect with --fee-model verification/;
  assertRefused([], message, {PROOFD_FIXED_COST: "1"});
});

test("a bad --gateway is refused without showing it, since it may have a password", () => {
  const message = "expected an http or https URL with a host";
  for (const url of ["ftp://me:secret@a", "secret.example", "file:///etc/secret", "http://user:%zz@secret"]) {
    assertRefused(["--no-estimate", "--gateway", url], new RegExp(`^error: --gateway: ${message}$`));
    assertRefused(["--no-estimate"], new RegExp(`^error: variable PROOFD_GATEWAY: ${message}$`), {
      PROOFD_GATEWAY: url,
    });
  }
  const {gateway} = read(["--no-estimate", "--gateway", "http://me:word@a"]);
  assert.equal(gateway?.href, "http://me:word@a/");
});
