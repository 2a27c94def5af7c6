/** The file of --fees: each field, its range, and what is said of a wrong one. */
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import {DEFAULT_ESTIMATE_SETTINGS, type FeeSettings} from "../../../../workers/messages/estimateSettings.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const DEFAULTS = DEFAULT_ESTIMATE_SETTINGS.fee;
const folder = makeTemporaryFolder();
const path = join(folder, "fees.json");

function read(text: string): FeeSettings {
  writeFileSync(path, text);
  return readFlags(SERVE_FLAGS, readServiceOptions, ["--fees", path]).estimate.settings.fee;
}

test("every field of a model is read, as text or as a number, and the others keep their defaults", () => {
  const verification = {
    model: "verification",
    minMargin: "1.123456789",
    verificationGasCost: "0x10",
    verificationCapacity: 1,
    gasPriceRatio: 0.5,
    gasPriceAdjustment: String(2n ** 256n - 1n),
    minGasPrice: 0,
  };
  assert.deepEqual(read(JSON.stringify(verification)), {
    ...DEFAULTS,
    minMargin: "1.123456789",
    verificationGasCost: 16n,
    verificationCapacity: 1n,
    gasPriceRatio: "0.5",
    gasPriceAdjustment: 2n ** 256n - 1n,
    minGasPrice: 0n,
  });
  const extraData = {model: "extra-data", fixedCost: 7, variableCost: "0x8", packAlign: true};
  assert.deepEqual(read(JSON.stringify(extraData)), {
    ...DEFAULTS,
    model: "extra-data",
    minMargin: "1.2",
    fixedCost: 7n,
    variableCost: 8n,
    packAlign: true,
  });
  assert.deepEqual(read("{}"), DEFAULTS);
});

test("the least margin is 1.2 with the model extra-data, unless it is given", () => {
  assert.equal(read('{"model": "extra-data"}').minMargin, "1.2");
  assert.equal(read('{"model": "extra-data", "minMargin": 1}').minMargin, "1");
});

test("an unknown field, a field of the other model and a value out of its range are refused by name", () => {
  for (const [text, message] of [
    [
      '{"minMargn": 1}',
      /there is no field minMargn: expected one of model, minMargin, verificationGasCost, /,
    ],
    ['{"__proto__": 1}', /there is no field __proto__/],
    ['{"fixedCost": 1}', /fixedCost has no effect with the model verification$/],
    ['{"packAlign": false}', /packAlign has no effect with the model verification$/],
    ['{"model": "extra-data", "minGasPrice": 1}', /minGasPrice has no effect with the model extra-data$/],
    ['{"model": "fixed"}', /model: Expected verification or extra-data\. Got "fixed"\.$/],
    ['{"minMargin": "1.1234567890"}', /minMargin: Expected a number such as 1\.2, with at most 9 digits/],
    ['{"minMargin": -1}', /minMargin: Expected a number/],
    ['{"minMargin": "1."}', /minMargin: Expected a number/],
    ['{"gasPriceRatio": 1e-7}', /gasPriceRatio: Expected a number/],
    [
      '{"gasPriceRatio": true}',
      /gasPriceRatio: Expected a number, as a string if it is above 2\^53 - 1\. Got true/,
    ],
    ['{"verificationGasCost": 1.5}', /Expected a whole number from 0 to 2\^256 - 1, decimal or 0x hex/],
    ['{"verificationCapacity": 0}', /verificationCapacity: Expected a whole number from 1/],
    ['{"minGasPrice": 9007199254740993}', /minGasPrice: Expected a number, as a string/],
    [`{"minGasPrice": "${2n ** 256n}"}`, /minGasPrice: Expected a whole number/],
    ['{"gasPriceAdjustment": -1}', /gasPriceAdjustment: Expected a whole number/],
    ['{"model": "extra-data", "fixedCost": "10gwei"}', /fixedCost: Expected a whole number/],
    ['{"model": "extra-data", "variableCost": ""}', /variableCost: Expected a whole number/],
    ['{"model": "extra-data", "packAlign": 1}', /packAlign: Expected true or false\. Got 1\./],
    ["[]", /fees\.json: expected a JSON object$/],
    ["{", /^error: --fees: .*fees\.json: /],
  ] as const)
    assertUsageError(() => read(text), message);
  const missing = ["--fees", join(folder, "none")];
  const reading = () => readFlags(SERVE_FLAGS, readServiceOptions, missing);
  assertUsageError(reading, /^error: --fees: .*none: ENOENT/);
});
