/** Law: every forgery of an answer of chain_getLeaves is refused, and each rule refuses some. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import fc from "fast-check";
import {createSha256Suite, poseidon2Suite} from "../../client/hash/hashSuites.ts";
import {verifyLeaves} from "../../client/leaves/leafRange.ts";
import {CONTRACT, LINES} from "../support/reference/compactCases.ts";
import {FORGERY_NAMES, RangeCases} from "../support/reference/forgedRanges.ts";
import {complaintOf} from "../support/reference/forgeries.ts";
import {memoiseSuite} from "../support/reference/memoisedSuite.ts";
import {keysOf} from "../support/reference/rangeBytes.ts";
import {isSoak} from "../support/soak.ts";

/** What the checks of docs/proofs.md, 15.3, say. */
const RULES = [
  /^byte 0: expected 3, got/,
  /^block.stateRoot: expected/,
  /^accountTree: does not fold to the trusted root/,
  /^storageTree: does not fold to the account's storageRoot/,
  /^nextFreeNode: is below 2/,
  /^nextFreeNode: is below 3/,
  /^from: expected \d+, got/,
  /^count: expected 1 to \d+, got/,
  /^count: the range goes beyond nextFreeNode/,
  /^leaf \d+: a flag without meaning is set/,
  /^leaf \d+: the nonce is longer than 8 bytes/,
  /^leaf \d+: codeSize is zero/,
  /^leaf \d+: the storageRoot of a new tree is sent/,
  /^leaf \d+: (prev|next|its link) is not below nextFreeNode/,
  /a number begins with a zero byte/,
  /expected a number of at most 32 bytes, got/,
  /^byte \d+: expected \d+ bytes?, got \d+/,
  /^byte \d+: expected the end of the proof, got \d+ more bytes?/,
];
const NO_DIGESTS = ["a node", "storageRoot", "codeHash"].map(
  what => new RegExp(`: ${what} is no digest of the suite`),
);
const PER_CLASS = isSoak() ? 1200 : 30;
/** Classes of many ways. */
const RUNS: Readonly<Record<string, number>> = {
  "another form of a record": 5 * PER_CLASS,
  "words that are no digests": PER_CLASS,
};
/** The same ones in each `npm test`, so that each rule is met. A soak takes others each time. */
const SEED = isSoak() ? {} : {seed: 25};

for (const [suite, rules, perClass] of [
  [memoiseSuite(createSha256Suite(asSha256)), RULES, PER_CLASS],
  [memoiseSuite(poseidon2Suite), NO_DIGESTS, Math.ceil(PER_CLASS / 3)],
] as const) {
  const cases = new RangeCases(suite, keysOf(suite, LINES));
  const requests = ["accounts", CONTRACT].flatMap(tree => {
    const {nextFreeNode} = cases.treeOf(tree);
    const starts = Array.from({length: nextFreeNode}, (_, from) => from);
    return starts.flatMap(from => [1, 2, 3, 5, 4096].map(count => ({tree, from, count})));
  });

  test(`${suite.name}: every range of a small state is accepted, and forgeries of every class are refused`, () => {
    for (const request of requests) {
      const {root, bytes} = cases.prove(request);
      verifyLeaves(suite, root, request, bytes);
    }
    const complaints = new Set<string>();
    const counts = new Map(FORGERY_NAMES.map(name => [name, 0]));
    const numbers = fc.infiniteStream(fc.nat());
    for (const name of FORGERY_NAMES)
      fc.assert(
        fc.property(fc.constantFrom(...requests), numbers, (request, stream) => {
          const pick = (n: number) => (stream.next().value as number) % n;
          const forged = cases.forge(name, request, pick);
          fc.pre(forged !== undefined);
          complaints.add(complaintOf(() => verifyLeaves(suite, forged.root, request, forged.bytes)));
          counts.set(name, (counts.get(name) as number) + 1);
        }),
        {numRuns: RUNS[name] ?? perClass, maxSkipsPerRun: 1000, ...SEED},
      );
    assert.deepEqual(
      FORGERY_NAMES.filter(name => (counts.get(name) as number) < perClass),
      [],
    );
    const said = [...complaints];
    assert.deepEqual(
      rules.filter(rule => !said.some(complaint => rule.test(complaint))),
      [],
    );
  });
}
