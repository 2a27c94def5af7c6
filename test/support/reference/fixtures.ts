/**
 * The vectors in test/fixtures. Each file says in `source` where it comes from:
 *
 *   published/   hashes, roots and digests that others have published, converted to our format
 *   own/         compiled by ownFixtures.ts; digests of vectors by writeVectors.ts
 */
import {readFileSync} from "node:fs";
import {fileURLToPath} from "node:url";

/** @param name - below test/fixtures, without ".json" */
export function fixturePath(name: string): string {
  return fileURLToPath(import.meta.resolve(`#package/test/fixtures/${name}.json`));
}

export function readFixture<Shape>(name: string): Shape {
  return JSON.parse(readFileSync(fixturePath(name), "utf8")) as Shape;
}
