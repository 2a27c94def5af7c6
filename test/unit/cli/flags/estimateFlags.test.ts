import assert from "node:assert/strict";
import {availableParallelism} from "node:os";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import type {EstimateOptions} from "../../../../service/serviceOptions.ts";
import type {EstimateSettings} from "../../../../workers/job/estimateSettings.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

const DEFAULTS: EstimateSettings = {
  gasCap: 50_000_000,
  timeMs: 2000,
  gasTolerance: 0.015,
  hardfork: undefined,
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
  return readFlags(SERVE_FLAGS, readServiceOptions, args, variables).estimate;
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

test("every flag is read, and the same from its variable", () => {
  const flags = {
    "gas-cap": "21000",
    hardfork: "cancun",
    "estimate-workers": "3",
  };
  const settings: EstimateSettings = {...DEFAULTS, gasCap: 21_000, hardfork: "cancun"};
  const byFlag = read(Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]));
  assert.deepEqual(byFlag, {settings, workers: 3, isEnabled: true, gateway: undefined});
  const variables = Object.entries(flags).map(([name, value]) => [
    `PROOFD_${name.replaceAll("-", "_").toUpperCase()}`,
    value,
  ]);
  assert.deepEqual(read([], Object.fromEntries(variables)), byFlag);
});

test("a value out of its range or form is refused", () => {
  const table: [string, string, RegExp][] = [
    ["--gas-cap", "20999", /Expected a whole number from 21000 to 4294967296/],
    ["--gas-cap", "4294967297", /Expected a whole number/],
    ["--hardfork", "istanbul", /Allowed choices are berlin,/],
    ["--hardfork", "London", /Allowed choices/],
    ["--hardfork", "amsterdam", /argument .amsterdam. is invalid. Allowed choices are .*, osaka\./],
    ["--estimate-workers", "0", /Expected a whole number from 1 to 256/],
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
    ["--no-estimate --gas-cap 30000", /--gas-cap has no effect with --no-estimate/],
    ["--no-estimate --hardfork london", /--hardfork has no effect/],
    ["--no-estimate --estimate-workers 1", /--estimate-workers has no effect/],
    ["--no-estimate --fees f", /--fees has no effect with --no-estimate/],
  ];
  for (const [line, message] of table) assertRefused(line.split(" "), message);
});

test("a variable that would have no effect is refused by its own name", () => {
  const message = /variable PROOFD_FEES has no effect with --no-estimate/;
  assertRefused(["--no-estimate"], message, {PROOFD_FEES: "f"});
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
