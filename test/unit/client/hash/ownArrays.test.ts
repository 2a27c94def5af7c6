/** A caller may write into every array that the client gives it: nothing that is verified later changes. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {
  compact,
  type HashSuite,
  newTreeRoot,
  openAnswer,
  verifyCompact,
  verifyProof,
} from "../../../../client/client.ts";
import {HASH_SUITES} from "../../../../client/hash/hashSuites.ts";
import {ReferenceState} from "../../../support/reference/referenceState.ts";

const ADDRESS = `0x${"a1".repeat(20)}`;
const ABSENT = `0x${"b2".repeat(20)}`;

/** Fills every byte array that hangs from a value, and counts them. */
function spoil(value: unknown): number {
  if (value instanceof Uint8Array) return value.fill(0xee).length > 0 ? 1 : 0;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + spoil(one), 0);
}

function hashesOf(suite: HashSuite): Uint8Array[] {
  const zero = new Uint8Array(32);
  const pair = suite.hashPair(zero, zero);
  const branches = [
    suite.hashPair(zero, zero),
    suite.hashBranch(new Uint8Array(64)),
    suite.hashPair(pair, pair),
  ];
  return [
    suite.tailKey,
    newTreeRoot(suite),
    suite.hashCode(new Uint8Array()),
    suite.hash(zero),
    pair,
    ...branches,
  ];
}

for (const suite of HASH_SUITES)
  test(`arrays of ${suite.name} that a caller spoils spoil no later verification`, () => {
    const state = new ReferenceState(suite, [
      {number: "0x0", hash: `0x${"00".repeat(32)}`, accounts: {[ADDRESS]: {balance: "0x5"}}},
    ]);
    const root = state.stateRoot(0);
    const requests = [ADDRESS, ABSENT].map(address => ({address, storageKeys: ["0x1"]}));
    const answers = requests.map(({address}) => state.prove(0, address, ["0x1"]));
    const verify = () =>
      requests.map((request, i) => [
        verifyProof(suite, root, request.address, request.storageKeys, answers[i]),
        verifyCompact(suite, root, request, compact(suite, request, answers[i])),
      ]);
    const proven = structuredClone(verify());
    const hashes = hashesOf(suite).map(hash => hash.slice());
    assert.ok(spoil(hashesOf(suite)) > 0);
    for (const [i, request] of requests.entries())
      assert.ok(spoil(openAnswer(suite, request, answers[i])) > 40);
    spoil(verify());
    assert.deepEqual(hashesOf(suite), hashes);
    assert.deepEqual(verify(), proven);
  });
