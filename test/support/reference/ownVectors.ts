/** Our own test vectors, made from the reference when they are read. test/fixtures/own has their digests. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {HASH_SUITES, type HashSuite} from "../../../client/hash/hashSuites.ts";
import {makeChangeVectors} from "./changeVectors.ts";
import {readFixture} from "./fixtures.ts";
import {makeProofVectors} from "./proofVectors.ts";
import {makeRangeVectors} from "./rangeVectors.ts";
import {makeTreeVectors} from "./treeVectors.ts";
import {makeVerifierVectors} from "./verifierVectors.ts";

const SOURCE =
  "made by `node dist/test/support/reference/writeVectors.js` from the reference trees of test/support/reference and the " +
  "hashes of client/, which share no code with storage/ and workers/";

const MAKERS = {
  trees: makeTreeVectors,
  proofs: makeProofVectors,
  verifier: makeVerifierVectors,
  leaves: makeRangeVectors,
  changes: makeChangeVectors,
} satisfies Readonly<Record<string, (suite: HashSuite) => object>>;

type VectorKind = keyof typeof MAKERS;

export const VECTOR_KINDS = Object.keys(MAKERS) as readonly VectorKind[];

const texts = new Map<string, string>();

/** @returns the text of a JSON file */
export function makeVectors(kind: VectorKind, suite: HashSuite["name"]): string {
  const name = `${kind}-${suite}`;
  const used = HASH_SUITES.find(one => one.name === suite) as HashSuite;
  const text = texts.get(name) ?? `${JSON.stringify({source: SOURCE, ...MAKERS[kind](used)}, null, 1)}\n`;
  texts.set(name, text);
  return text;
}

export function digestVectors(kind: VectorKind, suite: HashSuite["name"]): string {
  return createHash("sha256").update(makeVectors(kind, suite)).digest("hex");
}

/** @throws AssertionError if they are not what they were */
export function readVectors<Shape>(kind: VectorKind, suite: HashSuite["name"]): Shape {
  const {digests} = readFixture<{digests: Readonly<Record<string, string>>}>("own/vectors");
  assert.equal(digestVectors(kind, suite), digests[`${kind}-${suite}`], `${kind}-${suite}`);
  return JSON.parse(makeVectors(kind, suite)) as Shape;
}
