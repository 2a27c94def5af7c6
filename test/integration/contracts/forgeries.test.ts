/** A sample of the forgeries of every class on anvil: the contracts refuse what client/ refuses, and for the same reason. */
import assert from "node:assert/strict";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import {callFor, VerifierContract} from "../../support/contracts/verifierContract.ts";
import {createAnvilTest} from "../../support/processes/anvilTest.ts";
import type {CompactRequestName} from "../../support/reference/compactCases.ts";
import {
  FEW_REQUESTS,
  type ForgedProof,
  ForgerySource,
  refusalOf,
} from "../../support/reference/forgedProofs.ts";
import {memoiseSuite} from "../../support/reference/memoisedSuite.ts";
import {sampleOf} from "../../support/soak.ts";

const ERRORS: readonly (readonly [complaint: RegExp, error: string])[] = [
  [/for a proof of/, "NotAnAccountProof"],
  [/expected \d+ bytes?, got/, "ProofTooShort"],
  [/expected 1 to \d+ leaves/, "LeafCountOutOfRange"],
  [/nextFreeNode is below/, "NextFreeNodeTooSmall"],
  [/the number of a leaf/, "NoSuchLeaf"],
  [/names the leaf of another key/, "LeafOfTwoKeys"],
  [/is not used by any key/, "LeafWithoutKey"],
  [/leaf indexes do not ascend/, "LeafIndexesNotAscending"],
  [/(leaf index|prev|next) is not below nextFreeNode/, "PositionNotInTree"],
  [/head or tail is named as the leaf of a key/, "KeyAtHeadOrTail"],
  [/continues beyond head or tail/, "ListBeyondItsEnd"],
  [/a number/, "NumberNotCanonical"],
  [/a slot is stored as zero/, "PresentSlotIsZero"],
  [/codeSize is zero/, "CodeSizeIsZero"],
  [/storageRoot of a new tree is sent/, "StorageRootOfNewTree"],
  [/not a digest of the suite/, "NotADigest"],
  [/that other leaves give|above the leaf's path/, "UnreadBitmapBit"],
  [/an empty sibling/, "EmptySiblingSent"],
  [/lies at or beyond nextFreeNode/, "SiblingBeyondNextFreeNode"],
  [/fold to the trusted root/, "RootMismatch"],
  [/is not (below|above) the key's/, "KeyNotBetweenLeaves"],
  [/of the (left|right) leaf is not the/, "LeavesNotNeighbours"],
  [/the end of the proof/, "TrailingBytes"],
];

/** Checks that client/ makes while it reads. A contract checks in one pass, so it may find another flaw first. */
const READING_ERRORS: ReadonlySet<string> = new Set([
  "ProofTooShort",
  "LeafCountOutOfRange",
  "NoSuchLeaf",
  "LeafWithoutKey",
  "KeyAtHeadOrTail",
  "NumberNotCanonical",
  "PresentSlotIsZero",
  "CodeSizeIsZero",
  "StorageRootOfNewTree",
  "TrailingBytes",
]);

/** @returns whether a contract's error is the one for the complaint of client/, or the proof may have other flaws as well */
function agrees({forged, error: expected}: Sampled, error: string): boolean {
  // In these, all that follows is read from another place.
  return (
    error === expected ||
    READING_ERRORS.has(expected) ||
    /^(bitmap: |the root of a new tree)/.test(forged.name)
  );
}

/** @param complaint - the message of client/ */
function errorFor(complaint: string): string {
  const found = ERRORS.find(([pattern]) => pattern.test(complaint));
  if (found === undefined) throw new Error(`no error of the contracts for: ${complaint}`);
  return found[1];
}

/** Of the forgeries of one class that break one rule in one tree, as many as `perRule` are asked about, of every `step`th. */
const SUITES = [
  {
    suite: memoiseSuite(sha256Suite),
    contract: "Sha256ProofVerifier",
    perRule: 2,
    step: 3,
    requests: undefined,
  },
  {
    suite: memoiseSuite(poseidon2Suite),
    contract: "Poseidon2ProofVerifier",
    perRule: 1,
    step: 2,
    requests: FEW_REQUESTS,
  },
] as const;
/** proofVerifier.test.ts asks the contracts about every byte and every length, and other roots. */
const TRIED_WHOLE = ["a byte", "truncation", "a stale root"];
/** A class with fewer forgeries is tried whole. */
const MANY = 400;

const testLayer1 = createAnvilTest(["--hardfork", "osaka"]);

for (const {suite, contract, perRule, step, requests} of SUITES)
  testLayer1(
    `${contract} refuses forgeries of every class by the error of the rule that the client names`,
    async anvil => {
      const verifier = await VerifierContract.deploy(anvil, contract);
      const sample = sampleForgeries(new ForgerySource(suite), perRule, step, requests);
      const same = new Set<string>();
      const differing: string[] = [];
      const calls = sample.map(({forged: {root, request, bytes}}) => callFor(root, request, bytes));
      for (const [i, verdict] of (await verifier.judgeAll(calls)).entries()) {
        const one = sample[i] as Sampled;
        const {complaint, error, forged} = one;
        assert.ok("refused" in verdict, `the contract accepts what the client refuses: ${complaint}`);
        if (!agrees(one, verdict.refused)) differing.push(`${forged.name}: ${complaint}, ${verdict.refused}`);
        if (error === verdict.refused) same.add(error);
      }
      assert.deepEqual(differing, []);
      const errors = new Set(sample.map(({error}) => error));
      assert.ok(errors.size >= 20, `${errors.size} errors`);
      assert.deepEqual(
        [...errors].filter(error => !same.has(error)),
        [],
      );
    },
  );

interface Sampled {
  readonly forged: ForgedProof;
  readonly complaint: string;
  readonly error: string;
}

function sampleForgeries(
  source: ForgerySource,
  perRule: number,
  step: number,
  requests: readonly CompactRequestName[] | undefined,
): Sampled[] {
  const sample: Sampled[] = [];
  const counts = new Map<string, number>();
  for (const [name, all] of source.list(requests)) {
    if (TRIED_WHOLE.includes(name)) continue;
    for (const forged of all.length > MANY ? sampleOf(all, step) : all) {
      const complaint = refusalOf(source.suite, forged);
      const error = errorFor(complaint);
      const rule = [name, error, complaint.includes("storageTree"), forged.request.length > 1].join();
      const count = (counts.get(rule) ?? 0) + 1;
      counts.set(rule, count);
      if (count <= perRule) sample.push({forged, complaint, error});
    }
  }
  return sample;
}
