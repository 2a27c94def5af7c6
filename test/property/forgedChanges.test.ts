/** Law: every forgery of an answer of chain_getChanges is refused, and each rule refuses some. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import fc from "fast-check";
import {createSha256Suite, poseidon2Suite} from "../../client/hash/hashSuites.ts";
import {verifyChanges} from "../../client/leaves/changeRange.ts";
import {CHANGED_TREES, ChangeCases, type ChangesQuestion} from "../support/reference/changeCases.ts";
import {FORGERY_NAMES, type ForgeryName, forgeChanges} from "../support/reference/forgedChanges.ts";
import {complaintOf} from "../support/reference/forgeries.ts";
import {memoiseSuite} from "../support/reference/memoisedSuite.ts";
import {isSoak} from "../support/soak.ts";

/** What the checks of docs/proofs.md, 16.5, say. Those of records are in forgedRanges.test.ts. */
const RULES = [
  /^byte 0: expected 4, got/,
  /^fromBlock.stateRoot: expected/,
  /^toBlock.stateRoot: expected/,
  /^accountTree: does not fold to the trusted root/,
  /^accountTree of fromBlock: does not fold to the trusted root/,
  /^accountTree of toBlock: does not fold to the trusted root/,
  /^storageTree of account \d+ at fromBlock: does not fold to the account's storageRoot/,
  /^storageTree of account \d+ at toBlock: does not fold to the account's storageRoot/,
  /^nextFreeNode: is below 2/,
  /^from: expected account \d+, slot \d+, got/,
  /^end: expected more than account \d+, slot \d+, got/,
  /^end: no leaf differs at account \d+, slot \d+/,
  /^count: expected \d+ leaves at most/,
  /^node \d+ of height \d+: is said to differ, and is the same/,
  /^leaf \d+: a value that is the same is sent again/,
  /^leaf \d+: a flag without meaning is set/,
  /^byte \d+: a bit that has no meaning is set/,
  /^byte \d+: expected \d+ bytes?, got \d+/,
  /^byte \d+: expected the end of the proof, got \d+ more bytes?/,
];
const NO_DIGESTS = [/: a node is no digest of the suite/];
const PER_CLASS = isSoak() ? 700 : 30;
/** The same ones in each `npm test`, so that each rule is met. A soak takes others each time. */
const SEED = isSoak() ? {} : {seed: 25};
const PAIRS = [
  [0, 2],
  [2, 0],
  [0, 1],
  [2, 1],
  [1, 1],
] as const;

for (const [suite, rules, perClass, longest] of [
  [memoiseSuite(createSha256Suite(asSha256)), RULES, PER_CLASS, 2],
  [memoiseSuite(poseidon2Suite), NO_DIGESTS, Math.ceil(PER_CLASS / 3), 1],
] as const) {
  const cases = new ChangeCases(suite);
  const questions = CHANGED_TREES.flatMap(tree =>
    PAIRS.flatMap(([from, to]) => cases.listQuestions(tree, from, to, longest)),
  );
  const verify = (question: ChangesQuestion, bytes: Uint8Array) =>
    verifyChanges(suite, cases.rootsOf(question), question.request, bytes);

  test(`${suite.name}: all changes of a small chain are accepted, and forgeries of every class are refused`, t => {
    for (const question of questions) verify(question, cases.prove(question));
    const complaints = new Set<string>();
    const counts = new Map<ForgeryName, number>(FORGERY_NAMES.map(name => [name, 0]));
    const numbers = fc.infiniteStream(fc.nat());
    for (const name of FORGERY_NAMES)
      fc.assert(
        fc.property(fc.constantFrom(...questions), numbers, (question, stream) => {
          const pick = (n: number) => (stream.next().value as number) % n;
          const forged = forgeChanges(cases, name, question, pick);
          fc.pre(forged !== undefined);
          complaints.add(complaintOf(() => verify(question, forged)));
          counts.set(name, (counts.get(name) as number) + 1);
        }),
        {numRuns: name === "words that are no digests" ? PER_CLASS : perClass, maxSkipsPerRun: 1000, ...SEED},
      );
    assert.deepEqual(
      FORGERY_NAMES.filter(name => (counts.get(name) as number) < perClass),
      [],
    );
    t.diagnostic(`${[...counts.values()].reduce((sum, n) => sum + n, 0)} forgeries refused`);
    const said = [...complaints];
    assert.deepEqual(
      rules.filter(rule => !said.some(complaint => rule.test(complaint))),
      [],
    );
  });
}
