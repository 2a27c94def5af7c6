/** Proof bytes: what they prove, and what is refused. property/forgedProofs.test.ts has all classes of forgeries. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import {
  compact,
  compactSlots,
  verifyCompact,
  verifyMultiProof,
  verifySlots,
} from "../../../../client/compact/compactProof.ts";
import * as suites from "../../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {COMPACT_REQUESTS, CompactCases} from "../../../support/reference/compactCases.ts";
import {PRESENT, proveAcross, proveBeside} from "../../../support/reference/forgedTrees.ts";
import {memoiseSuite} from "../../../support/reference/memoisedSuite.ts";

for (const suite of [suites.createSha256Suite(asSha256), memoiseSuite(suites.poseidon2Suite)]) {
  const cases = new CompactCases(suite);
  const verify = ({root, request}: ReturnType<CompactCases["prove"]>, bytes: Uint8Array) =>
    verifyMultiProof(suite, root, request, bytes);

  test(`${suite.name}: a present and an absent slot, an absent account and one without storage are proven at once`, () => {
    const proof = cases.prove("many");
    const [contract, deleted, plain] = verify(proof, proof.bytes);
    assert.equal(contract?.account?.nonce, 7n);
    assert.equal(contract?.account?.codeSize, 2n);
    assert.deepEqual(contract?.slots, [16n, undefined]);
    assert.deepEqual(deleted, {account: undefined, slots: [undefined]});
    assert.equal(plain?.account?.balance, 3n);
    assert.deepEqual(plain?.slots, [undefined]);
  });
}

test("paths meet at every height, and a sibling of any height must begin below nextFreeNode", () => {
  const suite = memoiseSuite(suites.sha256Suite);
  const request = {address: PRESENT, storageKeys: []};
  const verify = ({root, answer}: ReturnType<typeof proveAcross>) =>
    verifyCompact(suite, root, request, compact(suite, request, answer)).account?.leafIndex;
  for (let height = 2; height < 40; height++) {
    assert.equal(verify(proveAcross(height)), undefined);
    assert.equal(verify(proveBeside(height, 2 ** height + 1)), 2);
    assert.throws(
      () => verify(proveBeside(height, 2 ** height)),
      new RegExp(`the sibling of height ${height} lies at or beyond nextFreeNode`),
    );
  }
});

test("a multiproof for another request, or of no entries, is refused", () => {
  const {root, request, bytes} = new CompactCases(suites.sha256Suite).prove("many");
  const verify = (entries: typeof request) => verifyMultiProof(suites.sha256Suite, root, entries, bytes);
  assert.throws(() => verify([]), /expected 1 to 16384 entries, got 0/);
  assert.throws(() => verify([...request].reverse()), ProofError);
  assert.throws(() => verify(request.slice(1)), ProofError);
  assert.throws(() => verify([...request, ...request]), ProofError);
  assert.throws(() => verify(request.map(({address}) => ({address, storageKeys: []}))), ProofError);
});

test("slots of another storage tree are refused", () => {
  const suite = suites.sha256Suite;
  const {state} = new CompactCases(suite);
  const [{address}] = COMPACT_REQUESTS.slots;
  const keys = ["0x1", "0x3"];
  const bytes = compactSlots(suite, keys, state.prove(0, address, keys).storageProofs);
  const rootAt = (block: number) => state.readAccount(block, address)?.storage.topRoot() as Uint8Array;
  assert.deepEqual(verifySlots(suite, rootAt(0), keys, bytes), [16n, 18n]);
  assert.throws(() => verifySlots(suite, rootAt(1), keys, bytes), /does not fold to the trusted root/);
});

test("an account whose code hashes belong to no code of its size has no compact form", () => {
  const suite = suites.sha256Suite;
  const {state} = new CompactCases(suite);
  const compactWith = (address: string, word: number): void => {
    const {accountProof} = state.prove(1, address, []);
    if (!("leafIndex" in accountProof)) throw new Error("the account is absent");
    const {value} = accountProof.proof;
    const changed = `${value.slice(0, 2 + 64 * word)}${"00".repeat(32)}${value.slice(2 + 64 * (word + 1))}`;
    const proof = {...accountProof.proof, value: changed};
    const answer = {accountProof: {...accountProof, proof}, storageProofs: []};
    compact(suite, {address, storageKeys: []}, answer);
  };
  const [contract, plain] = [COMPACT_REQUESTS.contract[0].address, COMPACT_REQUESTS.plain[0].address];
  // codeSize of an account with code; then one hash of an account without.
  for (const [address, word] of [
    [contract, 5],
    [plain, 3],
    [plain, 4],
  ] as const)
    assert.throws(() => compactWith(address, word), /codeSize is zero, but/);
});
