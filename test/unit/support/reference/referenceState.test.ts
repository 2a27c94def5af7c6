/** The slow reference of the state: fixed points, published roots, and the rules of docs/proofs.md, section 4. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {HASH_SUITES, newTreeRoot, sha256Suite} from "../../../../client/hash/hashSuites.ts";
import type {AccountDifference, DifferenceLine} from "../../../support/chains/differenceLine.ts";
import {ReferenceState} from "../../../support/reference/referenceState.ts";
import {ReferenceTree} from "../../../support/reference/referenceTree.ts";

const FIXED_POINTS = {
  sha256: {
    subRoot: "0xc911f694b30d3edf8a838febbdb087c9ccb8262f787f7931b1065147ec52e7a5",
    topRoot: "0x236e8dc4476b99459a9cb68b079c79a80db0c759a9788d57ae6c473d89c42206",
  },
  poseidon2: {
    subRoot: "0x3a00a8e34a16f8a1225fee734816edb326f783bd6678d793345a28f046586ba6",
    topRoot: "0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7",
  },
};

const ALICE = "0x2400000000000000000000000000000000000000";
const BOB = "0x2900000000000000000000000000000000000000";

/** A chain of these differences, block 0 first. */
function replay(...blocks: Record<string, AccountDifference | null>[]): ReferenceState {
  const hashOf = (i: number) => `0x${i.toString(16).padStart(64, "0")}`;
  return new ReferenceState(
    sha256Suite,
    blocks.map((accounts, i): DifferenceLine => ({number: `0x${i.toString(16)}`, hash: hashOf(i), accounts})),
  );
}

/** Where ALICE's leaf lies at a block. */
function leafIndexOf(state: ReferenceState, block: number): number {
  const {accountProof} = state.prove(block, ALICE, []);
  assert.ok("leafIndex" in accountProof);
  return accountProof.leafIndex;
}

for (const suite of HASH_SUITES) {
  test(`${suite.name}: a new tree has the roots of docs/proofs.md`, () => {
    const tree = ReferenceTree.create(suite);
    assert.equal(encodeHex(tree.subRoot()), FIXED_POINTS[suite.name].subRoot);
    assert.equal(encodeHex(tree.topRoot()), FIXED_POINTS[suite.name].topRoot);
    assert.equal(tree.nextFreeNode, 2);
  });
}

test("an account value has the six words of docs/proofs.md, and those of an empty account by default", () => {
  const state = replay({[ALICE]: {}});
  const {accountProof} = state.prove(0, ALICE, []);
  assert.ok("proof" in accountProof);
  const words = accountProof.proof.value.slice(2).match(/.{64}/g) ?? [];
  assert.deepEqual(words, [
    "0".repeat(64),
    "0".repeat(64),
    FIXED_POINTS.sha256.topRoot.slice(2),
    encodeHex(sha256Suite.hashCode(new Uint8Array())).slice(2),
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    "0".repeat(64),
  ]);
});

test("a change that changes nothing leaves the state root alone, and so does deleting what is absent", () => {
  const state = replay(
    {[ALICE]: {nonce: "0x1", storage: {"0x1": "0x2"}}},
    {[ALICE]: {}},
    {[ALICE]: {nonce: "0x1", storage: {"0x01": "0x02", "0x5": "0x0"}}, [BOB]: null},
  );
  assert.deepEqual(state.stateRoot(1), state.stateRoot(0));
  assert.deepEqual(state.stateRoot(2), state.stateRoot(0));
});

test("a position is never used again: an account deleted and made again lies behind all others, with new storage", () => {
  const state = replay({[ALICE]: {storage: {"0x1": "0x2"}}}, {[BOB]: {}}, {[ALICE]: null}, {[ALICE]: {}});
  assert.equal(leafIndexOf(state, 0), 2);
  assert.equal(leafIndexOf(state, 3), 4);
  assert.deepEqual(state.readAccount(3, ALICE)?.storage.topRoot(), newTreeRoot(sha256Suite));
  assert.equal(state.readSlot(0, ALICE, 1n), 2n);
  assert.equal(state.readSlot(3, ALICE, 1n), 0n);
});

test("a reset moves the account even where the new value is the old one, and forgets fields left out", () => {
  const state = replay(
    {[ALICE]: {nonce: "0x5", storage: {"0x1": "0x2"}}},
    {[ALICE]: {reset: true}},
    {[ALICE]: {reset: true}},
  );
  assert.deepEqual(
    [0, 1, 2].map(block => leafIndexOf(state, block)),
    [2, 3, 4],
  );
  assert.equal(state.readAccount(1, ALICE)?.nonce, 0n);
  assert.equal(state.readSlot(1, ALICE, 1n), 0n);
});

test("storage emptied slot by slot is no new storage: nextFreeNode stays, and so does another root", () => {
  const state = replay({[ALICE]: {storage: {"0x1": "0x2"}}}, {[ALICE]: {storage: {"0x1": "0x0"}}});
  const storage = state.readAccount(1, ALICE)?.storage;
  assert.equal(storage?.nextFreeNode, 3);
  assert.equal(encodeHex(storage?.subRoot() ?? new Uint8Array()), FIXED_POINTS.sha256.subRoot);
  assert.notDeepEqual(storage?.topRoot(), newTreeRoot(sha256Suite));
});

test("leaf indexes are given by ascending hKey inside a block, not by the order of the line", () => {
  const hKeyOf = (address: string) => sha256Suite.hashAddress(decodeHex(address));
  assert.ok(Buffer.compare(hKeyOf(ALICE), hKeyOf(BOB)) < 0, "ALICE is the lower of the two");
  const aliceFirst = replay({[ALICE]: {}}, {[BOB]: {}}).stateRoot(1);
  assert.notDeepEqual(replay({[BOB]: {}}, {[ALICE]: {}}).stateRoot(1), aliceFirst);
  assert.deepEqual(replay({[ALICE]: {}, [BOB]: {}}).stateRoot(0), aliceFirst);
  assert.deepEqual(replay({[BOB]: {}, [ALICE]: {}}).stateRoot(0), aliceFirst);
  const slots = {"0x1": "0x1", "0x2": "0x1", "0x3": "0x1"};
  const turned = {"0x3": "0x1", "0x2": "0x1", "0x1": "0x1"};
  assert.deepEqual(
    replay({[ALICE]: {storage: slots}}).stateRoot(0),
    replay({[ALICE]: {storage: turned}}).stateRoot(0),
  );
});
