/** Writes test/fixtures/own: node dist/test/support/reference/writeFixtures.js */
import {mkdirSync, writeFileSync} from "node:fs";
import {dirname} from "node:path";
import {fixturePath} from "./fixtures.ts";
import {makeOwnFixtures} from "./ownFixtures.ts";

for (const [name, text] of makeOwnFixtures()) {
  const path = fixturePath(name);
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, text);
}
