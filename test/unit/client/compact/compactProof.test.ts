/** Proof bytes: what they prove, and what is refused. property/forgedProofs.test.ts has all classes of forgeries. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {compact, verifyCompact} from "../../../../client/compact/compactProof.ts";
import * as suites from "../../../../client/hash/hashSuites.ts";
import {COMPACT_REQUESTS, CompactCases} from "../../../support/reference/compactCases.ts";
import {PRESENT, proveAcross, proveBeside} from "../../../support/reference/forgedTrees.ts";
import {memoiseSuite} from "../../../support/reference/memoisedSuite.ts";

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
