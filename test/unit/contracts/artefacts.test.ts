/** The compiled contracts that are checked in. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {ARTEFACTS} from "../../../contracts/artefacts.ts";
import {compileContracts, POSEIDON2} from "../../../contracts/compile.ts";
import {poseidon2Source} from "../../../contracts/poseidon2Source.ts";

test("contracts/artefacts.json is what the sources compile to, without a warning", () => {
  assert.ok(readFileSync(ARTEFACTS, "utf8") === compileContracts(), "run: node dist/contracts/compile.js");
});

test("contracts/src/Poseidon2.sol is what poseidon2Source.ts writes", () => {
  assert.equal(readFileSync(POSEIDON2, "utf8"), poseidon2Source());
});
