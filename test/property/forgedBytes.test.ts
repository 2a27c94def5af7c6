/** Law: of all byte strings, a verifier accepts one for a request and a root. Whatever is made of a valid proof is refused. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import fc from "fast-check";
import {compareBytes, concatBytes} from "../../client/bytes/byteString.ts";
import {verifyMultiProof} from "../../client/compact/compactProof.ts";
import {createSha256Suite, zeroSubTrees} from "../../client/hash/hashSuites.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {COMPACT_REQUESTS, CompactCases, type CompactRequestName} from "../support/reference/compactCases.ts";
import {propertyRuns} from "../support/soak.ts";

const suite = createSha256Suite(asSha256);
const cases = new CompactCases(suite);
const NAMES = Object.keys(COMPACT_REQUESTS) as CompactRequestName[];
const PROOFS = new Map(NAMES.map(name => [name, cases.prove(name)]));

/** One change of a byte string. Places are shares of its length, so that they fit every proof. */
type Change = (bytes: Uint8Array) => Uint8Array;

const places = fc.double({min: 0, max: 1, noNaN: true, maxExcluded: true});
const lengths = fc.constantFrom(1, 1, 2, 4, 5, 20, 32, 64);
const fillings = fc.oneof(
  fc.uint8Array({minLength: 1, maxLength: 64}),
  fc.constantFrom(...zeroSubTrees(suite).slice(0, 5), new Uint8Array(5), new Uint8Array(32).fill(0xff)),
);

function placeOf(bytes: Uint8Array, share: number): number {
  return Math.floor(share * bytes.length);
}

const overwrite = fc.tuple(places, fillings).map(([share, filling]): Change => {
  return bytes => {
    const at = placeOf(bytes, share);
    const copy = Uint8Array.from(bytes);
    copy.set(filling.subarray(0, bytes.length - at), at);
    return copy;
  };
});
const insert = fc.tuple(places, fillings).map(([share, filling]): Change => {
  return bytes => {
    const at = placeOf(bytes, share);
    return concatBytes(bytes.subarray(0, at), filling, bytes.subarray(at));
  };
});
const remove = fc.tuple(places, lengths).map(([share, length]): Change => {
  return bytes => {
    const at = placeOf(bytes, share);
    return concatBytes(bytes.subarray(0, at), bytes.subarray(at + length));
  };
});
/** Two pieces that follow one another change places. */
const exchange = fc.tuple(places, lengths).map(([share, length]): Change => {
  return bytes => {
    const at = placeOf(bytes, share);
    const [first, second] = [bytes.subarray(at, at + length), bytes.subarray(at + length, at + 2 * length)];
    return concatBytes(bytes.subarray(0, at), second, first, bytes.subarray(at + 2 * length));
  };
});
/** The beginning of one proof and the end of another. */
const graft = fc.tuple(fc.constantFrom(...NAMES), places, places).map(([name, cut, from]): Change => {
  const {bytes: other} = PROOFS.get(name) as ReturnType<CompactCases["prove"]>;
  return bytes => concatBytes(bytes.subarray(0, placeOf(bytes, cut)), other.subarray(placeOf(other, from)));
});
const changes = fc.array(fc.oneof(overwrite, insert, remove, exchange, graft), {minLength: 1, maxLength: 3});

test("what is made of valid proof bytes by any changes is refused, unless it is the proof again", () => {
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), changes, (name, made) => {
      const {root, request, bytes} = PROOFS.get(name) as ReturnType<CompactCases["prove"]>;
      const forged = made.reduce((changed, change) => change(changed), bytes);
      if (compareBytes(forged, bytes) === 0) return;
      assert.throws(() => verifyMultiProof(suite, root, request, forged), ProofError);
    }),
    {numRuns: propertyRuns(5000)},
  );
});

test("the proof of one request is refused for every other", () => {
  for (const asked of NAMES)
    for (const [name, {root, bytes}] of PROOFS) {
      if (asked === name) continue;
      assert.throws(
        () => verifyMultiProof(suite, root, COMPACT_REQUESTS[asked], bytes),
        ProofError,
        `${asked} ${name}`,
      );
    }
});
