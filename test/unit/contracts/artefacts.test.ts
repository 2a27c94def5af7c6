/** The compiled contracts that are checked in, those of the demo too. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {ARTEFACTS} from "../../../contracts/artefacts.ts";
import {CONTRACTS_FOLDER} from "../../../demo/artefact.ts";
import {compileContracts, POSEIDON2} from "../../support/contracts/compile.ts";
import {isCompiledAsRecorded} from "../../support/contracts/compiledRecord.ts";
import {poseidon2Source} from "../../support/contracts/poseidon2Source.ts";
import {compileContracts as compileDemoContracts} from "../../support/demo/compileContracts.ts";

test("contracts/artefacts.json is what the sources compile to, without a warning", () => {
  if (isCompiledAsRecorded()) return;
  assert.ok(
    readFileSync(ARTEFACTS, "utf8") === compileContracts(),
    "run: node dist/test/support/contracts/compile.js",
  );
});

test("contracts/src/Poseidon2.sol is what poseidon2Source.ts writes", () => {
  assert.equal(readFileSync(POSEIDON2, "utf8"), poseidon2Source());
});

test("compiling the demo's contracts again gives the checked-in bytecode", () => {
  if (isCompiledAsRecorded()) return;
  for (const [name, text] of compileDemoContracts())
    assert.equal(text, readFileSync(join(CONTRACTS_FOLDER, `${name}.json`), "utf8"), name);
});

test("what was compiled last is recorded, so that it is not compiled in every run", () => {
  if (process.env.COMPILE !== undefined) return;
  assert.ok(
    isCompiledAsRecorded(),
    "if all else passes, run: node dist/test/support/contracts/compiledRecord.js",
  );
});
