/** Law: every forgery of every class is refused, and each rule refuses some. integration/contracts asks the contracts about a sample. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import fc from "fast-check";
import {concatBytes, isEqual} from "../../client/bytes/byteString.ts";
import {verifyMultiProof} from "../../client/compact/compactProof.ts";
import {createSha256Suite, poseidon2Suite, zeroSubTrees} from "../../client/hash/hashSuites.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {COMPACT_REQUESTS, type CompactRequestName} from "../support/reference/compactCases.ts";
import {FEW_REQUESTS, ForgerySource, refusalOf} from "../support/reference/forgedProofs.ts";
import {memoiseSuite} from "../support/reference/memoisedSuite.ts";
import {isSoak, propertyRuns, sampleOf} from "../support/soak.ts";

/** What the checks of docs/proofs.md, section 10, say. Those of a part are made in the account tree and in a storage tree. */
const RULES = [
  /^byte 0: expected 1 byte, got 0/,
  /^byte 0: expected 1, for a proof of accounts, got/,
  /expected 32 bytes, got 31/,
  /: expected 1 to \d leaves, got 0/,
  /: expected 1 to \d leaves, got \d{3,}/,
  /expected the number of a leaf, below \d+, got \d+/,
  /leaf \d is not used by any key/,
  /head or tail is named as the leaf of a key/,
  /a number begins with a zero byte/,
  /expected a number of at most 32 bytes, got 33/,
  /codeSize is zero/,
  /a slot is stored as zero/,
  /the storageRoot of a new tree is sent/,
  /expected the end of the proof, got \d+ more bytes/,
  /accountTree: nextFreeNode is below 2/,
  /accountTree: does not fold to the trusted root/,
  /storageTree: nextFreeNode is below 3/,
];
const RULES_OF_PARTS = [
  "names the leaf of another key",
  "leaf indexes do not ascend",
  "leaf index is not below nextFreeNode",
  "prev is not below nextFreeNode",
  "next is not below nextFreeNode",
  "the list continues beyond head or tail",
  "a sibling of height \\d+ that other leaves give",
  "the bitmap has bits above the leaf's path",
  "an empty sibling of height \\d+",
  "the sibling of height \\d+ lies at or beyond nextFreeNode",
  "hKey of the left leaf is not below the key's",
  "hKey of the right leaf is not above the key's",
  "next of the left leaf is not the right leaf",
  "prev of the right leaf is not the left leaf",
];
const suite = memoiseSuite(createSha256Suite(asSha256));
const source = new ForgerySource(suite);
const {cases} = source;
/** Of forgeries of a class, which are much alike, `npm test` takes every fifth of those after the first hundred. */
const MANY = 100;

test("forgeries of every class are refused; each rule refuses some, those of a part in both trees", t => {
  const complaints = new Set<string>();
  const classes = source.list();
  let total = 0;
  for (const forged of classes.values())
    for (const one of [...forged.slice(0, MANY), ...sampleOf(forged.slice(MANY), 5)]) {
      complaints.add(refusalOf(suite, one));
      total++;
    }
  t.diagnostic(`${total} forgeries of ${classes.size} classes`);
  assert.ok(classes.size >= 50, `${classes.size} classes`);
  assert.ok(total >= (isSoak() ? 28_000 : 9000), `${total} forgeries`);
  const parts = RULES_OF_PARTS.flatMap(rule =>
    ["accountTree", "storageTree"].map(tree => new RegExp(`${tree}(\\.(leaves|keys)\\[\\d+\\])?: ${rule}`)),
  );
  const said = [...complaints];
  assert.deepEqual(
    [...RULES, ...parts].filter(rule => !said.some(complaint => rule.test(complaint))),
    [],
  );
});

test("poseidon2: forgeries of every class are refused, some because they have no digests", () => {
  const poseidon2 = memoiseSuite(poseidon2Suite);
  const said: string[] = [];
  for (const forged of new ForgerySource(poseidon2).list(FEW_REQUESTS).values())
    for (const one of sampleOf(forged, forged.length > 4 * MANY ? 16 : forged.length > MANY ? 4 : 1))
      said.push(refusalOf(poseidon2, one));
  for (const what of ["a sibling", "hKey", "hVal", "codeHash"])
    assert.ok(
      said.some(complaint => complaint.endsWith(`${what} is not a digest of the suite`)),
      what,
    );
});

/** In place of some bytes of a proof come others: none, random ones, those that proofs are made of, or a piece of another proof. */
const proofs = (Object.keys(COMPACT_REQUESTS) as CompactRequestName[]).map(name => cases.prove(name));
/** Places are shares of the length, so that they fit every proof. */
const places = fc.double({min: 0, max: 1, noNaN: true, maxExcluded: true});
const lengths = fc.constantFrom(0, 0, 1, 1, 2, 4, 5, 20, 32, 64, 100_000);
const pieceOf = (bytes: Uint8Array, share: number, length: number) => {
  const at = Math.floor(share * bytes.length);
  return bytes.subarray(at, at + length);
};
const fillings = fc.oneof(
  fc.uint8Array({maxLength: 64}),
  fc.constantFrom(...zeroSubTrees(suite).slice(0, 5), new Uint8Array(5), new Uint8Array(32).fill(0xff)),
  fc
    .tuple(fc.constantFrom(...proofs), places, lengths)
    .map(([{bytes}, share, n]) => pieceOf(bytes, share, n)),
);
const splices = fc.array(fc.record({place: places, length: lengths, filling: fillings}), {
  minLength: 1,
  maxLength: 3,
});

test("what is made of valid proof bytes by any changes is refused, unless it is the proof again", () => {
  fc.assert(
    fc.property(fc.constantFrom(...proofs), splices, ({root, request, bytes}, changes) => {
      let forged = bytes;
      for (const {place, length, filling} of changes) {
        const at = Math.floor(place * forged.length);
        forged = concatBytes(forged.subarray(0, at), filling, forged.subarray(at + length));
      }
      if (isEqual(forged, bytes)) return;
      assert.throws(() => verifyMultiProof(suite, root, request, forged), ProofError);
    }),
    {numRuns: propertyRuns(1500)},
  );
});
