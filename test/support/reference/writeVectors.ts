/**
 * Writes the vectors of ownVectors.ts as files, or their digests into test/fixtures/own.
 *
 * Run: node dist/test/support/reference/writeVectors.js [FOLDER]
 */
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {HASH_SUITES} from "../../../client/hash/hashSuites.ts";
import {fixturePath} from "./fixtures.ts";
import {digestVectors, makeVectors, VECTOR_KINDS} from "./ownVectors.ts";

const [folder] = process.argv.slice(2);
const digests: Record<string, string> = {};
for (const kind of VECTOR_KINDS)
  for (const {name} of HASH_SUITES) {
    if (folder === undefined) digests[`${kind}-${name}`] = digestVectors(kind, name);
    else writeFileSync(join(folder, `${kind}-${name}.json`), makeVectors(kind, name));
  }
if (folder === undefined) {
  const source = "digests (sha256) of the files that writeVectors.js writes";
  writeFileSync(fixturePath("own/vectors"), `${JSON.stringify({source, digests}, null, 1)}\n`);
}
