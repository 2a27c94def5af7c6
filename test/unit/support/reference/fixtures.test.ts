/** The files of our own in test/fixtures. The digests of vectors are compared whenever these are read. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {isCompiledAsRecorded} from "../../../support/contracts/compiledRecord.ts";
import {fixturePath} from "../../../support/reference/fixtures.ts";
import {makeContracts} from "../../../support/reference/ownFixtures.ts";

test("the contracts in test/fixtures/own are what ownFixtures.js writes", async () => {
  if (isCompiledAsRecorded()) return;
  for (const [name, text] of await makeContracts())
    assert.equal(readFileSync(fixturePath(name), "utf8"), text, name);
});
