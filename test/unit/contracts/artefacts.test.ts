/** The compiled contracts that are checked in. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {ARTEFACTS} from "../../../contracts/artefacts.ts";
import {compileContracts} from "../../../contracts/compile.ts";

test("contracts/artefacts.json is what the sources compile to, without a warning", () => {
  assert.ok(readFileSync(ARTEFACTS, "utf8") === compileContracts(), "run: node dist/contracts/compile.js");
});
