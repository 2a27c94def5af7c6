/** A sample of the forgeries of every class on anvil: the contracts refuse what client/ refuses, and for the same reason. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {verifyMultiProof} from "../../../client/compact/multiProof.ts";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import {agrees, complaintOf, errorFor} from "../../support/contracts/refusals.ts";
import {callFor, VerifierContract} from "../../support/contracts/verifierContract.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import type {CompactCase} from "../../support/reference/compactCases.ts";
import {FORGERY_CLASSES, type ForgeryClass, ForgerySource} from "../../support/reference/forgeryClasses.ts";
import {memoiseSuite} from "../../support/reference/memoisedSuite.ts";

const SUITES = [
  {suite: memoiseSuite(sha256Suite), contract: "Sha256ProofVerifier", perClass: 60},
  {suite: memoiseSuite(poseidon2Suite), contract: "Poseidon2ProofVerifier", perClass: 12},
] as const;

let anvil: Anvil | string;

before(async () => {
  anvil = await Anvil.start(["--hardfork", "osaka"]);
});

after(async () => {
  if (typeof anvil !== "string") await anvil.stop();
});

for (const {suite, contract, perClass} of SUITES)
  test(`${contract} refuses forgeries of every class, as the client does`, async t => {
    if (typeof anvil === "string") return notRun(t, anvil);
    const verifier = await VerifierContract.deploy(anvil, contract);
    const source = new ForgerySource(suite);
    let [asked, same] = [0, 0];
    for (const name of Object.keys(FORGERY_CLASSES) as ForgeryClass[]) {
      const all = [...source.forge(name)];
      const step = Math.ceil(all.length / perClass);
      const sample = all.filter((_, i) => i % step === 0);
      assert.ok(sample.length > 0, `no forgery by ${name}`);
      const calls = sample.map(({root, request, bytes}) => callFor(root, request, bytes));
      for (const [i, verdict] of (await verifier.judgeAll(calls)).entries()) {
        assert.ok("refused" in verdict, `${name}, forgery ${i}: the contract accepts it`);
        const {root, request, bytes} = sample[i] as CompactCase;
        const complaint = complaintOf(() => verifyMultiProof(suite, root, request, bytes));
        assert.ok(
          agrees(complaint, verdict.refused),
          `${name}, forgery ${i}: ${complaint}, ${verdict.refused}`,
        );
        asked++;
        if (errorFor(complaint) === verdict.refused) same++;
      }
    }
    assert.ok(same > 0.75 * asked, `${same} of ${asked} have the error of the client's complaint`);
  });
