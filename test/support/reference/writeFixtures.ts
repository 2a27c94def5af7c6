/** Writes test/fixtures/own: node dist/test/support/reference/writeFixtures.js */
import {mkdirSync, writeFileSync} from "node:fs";
import {dirname} from "node:path";
import {fixturePath} from "./fixtures.ts";
import {makeOwnFixture, OWN_FIXTURES} from "./ownFixtures.ts";

for (const name of OWN_FIXTURES) {
  const path = fixturePath(name);
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, await makeOwnFixture(name));
}
