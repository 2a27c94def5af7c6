/** The suite sha256: the layout of a leaf's opening, and the fixed points of docs/proofs.md. That its hashes are the verifier's, property/everyBlock shows. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {word} from "../../../../client/hash/hashSuites.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {SUITE_NAMES} from "../../../../storage/hash/suiteNames.ts";
import {findSuite} from "../../../../storage/hash/suites.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";

const suite = sha256Suite;
const bytes32 = fc.uint8Array({minLength: 32, maxLength: 32});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

test("a leaf opening is prev, next, hKey and hVal, 32 bytes each, also of the highest indexes", () => {
  const index = fc.oneof(fc.nat(), fc.constantFrom(0, 0xffffff, 0x1000000, 2 ** 40 - 1, 2 ** 48 - 1));
  fc.assert(
    fc.property(index, index, bytes32, bytes32, fc.nat(64), (prev, next, hKey, hVal, offset) => {
      const out = Buffer.alloc(offset + suite.leafOpeningBytes + 1, 0xee);
      suite.encodeLeafOpeningInto(out, offset, prev, next, hKey, hVal);
      const expected = Buffer.concat([word(prev), word(next), hKey, hVal]);
      assert.equal(hex(out.subarray(offset, -1)), hex(expected));
      assert.ok(out.subarray(0, offset).every(byte => byte === 0xee) && out.at(-1) === 0xee);
    }),
  );
});

test("leaves and roots of a new tree are the fixed points of docs/proofs.md, section 7", () => {
  const zero = new Uint8Array(32);
  const leafHash = (hKey: Uint8Array): string => {
    const opening = new Uint8Array(suite.leafOpeningBytes);
    suite.encodeLeafOpeningInto(opening, 0, 0, 1, hKey, zero);
    return hex(suite.hashNode(opening));
  };
  const {subRoot, topRoot} = emptyTree(suite);
  assert.equal(leafHash(zero), "a312b844c71b2172397874a5a1aed6e9d6b8399e9a726a54f78bc2063894d597");
  assert.equal(leafHash(suite.tailHKey), "e80a9d596fe651a4747a1a0a921ca5ad567db7d76d454864c7cc7aaa382bb5bf");
  assert.equal(hex(subRoot), "c911f694b30d3edf8a838febbdb087c9ccb8262f787f7931b1065147ec52e7a5");
  assert.equal(hex(topRoot), "236e8dc4476b99459a9cb68b079c79a80db0c759a9788d57ae6c473d89c42206");
});

test("suites are found by the names that the registry lists, and no other", () => {
  for (const name of SUITE_NAMES) assert.equal(findSuite(name)?.trees?.name, name);
  assert.equal(findSuite("toString"), undefined);
  assert.equal(new Set(SUITE_NAMES).size, SUITE_NAMES.length);
  for (const name of ["", "SHA256", "sha512", "constructor"]) assert.equal(findSuite(name), undefined);
});
