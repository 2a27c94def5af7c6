/** Law: every forgery of an answer of chain_getLeaves or chain_getChanges is refused, and each rule refuses some. */
import assert from "node:assert/strict";
import {type TestContext, test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import fc from "fast-check";
import {createSha256Suite, poseidon2Suite} from "../../client/hash/hashSuites.ts";
import {verifyChanges} from "../../client/leaves/changeRange.ts";
import {verifyLeaves} from "../../client/leaves/leafRange.ts";
import {CHANGED_TREES, ChangeCases, type ChangesQuestion} from "../support/reference/changeCases.ts";
import {CONTRACT, LINES} from "../support/reference/compactCases.ts";
import {forgeChanges, listForgeries} from "../support/reference/forgedChanges.ts";
import {RangeCases} from "../support/reference/forgedRanges.ts";
import {complaintOf, type Pick} from "../support/reference/forgeries.ts";
import {memoiseSuite} from "../support/reference/memoisedSuite.ts";
import {keysOf} from "../support/reference/rangeBytes.ts";
import {isSoak} from "../support/soak.ts";

/** What the checks of docs/proofs.md, 15.3, say. */
const RANGE_RULES = [
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
const RANGE_DIGESTS = ["a node", "storageRoot", "codeHash"].map(
  what => new RegExp(`: ${what} is not a digest of the suite`),
);
/** What the checks of docs/proofs.md, 16.5, say. Those of records are above. */
const CHANGE_RULES = [
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
  /^node \d+ of height \d+: is marked as different, but is the same/,
  /^leaf \d+: an unchanged value is sent again/,
  /^leaf \d+: a flag without meaning is set/,
  /^byte \d+: a bit that has no meaning is set/,
  /^byte \d+: expected \d+ bytes?, got \d+/,
  /^byte \d+: expected the end of the proof, got \d+ more bytes?/,
];
const CHANGE_DIGESTS = [/: a node is not a digest of the suite/];
const RUNS = isSoak() ? 700 : 15;
/** Classes of ranges that have many ways. */
const MORE_RUNS: Readonly<Record<string, number>> = {
  "another form of a record": 5,
  "words that are no digests": 3,
};
/** The same ones in each `npm test`, so that each rule is met. A soak takes others each time. */
const SEED = isSoak() ? {} : {seed: 25};
const PAIRS = [
  [0, 2],
  [2, 0],
  [0, 1],
  [2, 1],
  [1, 1],
] as const;

/**
 * @param forge - undefined: there is no such forgery
 * @param verify - has to refuse what is forged
 */
function refuseAll<Question, Forged>(
  t: TestContext,
  names: readonly string[],
  questions: readonly Question[],
  runs: number,
  rules: readonly RegExp[],
  forge: (name: string, question: Question, pick: Pick) => Forged | undefined,
  verify: (question: Question, forged: Forged) => unknown,
): void {
  const said = new Set<string>();
  let total = 0;
  for (const name of names)
    fc.assert(
      fc.property(fc.constantFrom(...questions), fc.infiniteStream(fc.nat()), (question, numbers) => {
        const forged = forge(name, question, n => (numbers.next().value as number) % n);
        fc.pre(forged !== undefined);
        said.add(complaintOf(() => verify(question, forged)));
        total++;
      }),
      {numRuns: runs * (MORE_RUNS[name] ?? 1), maxSkipsPerRun: 1000, ...SEED},
    );
  t.diagnostic(`${total} forgeries of ${names.length} classes`);
  assert.deepEqual(
    rules.filter(rule => ![...said].some(complaint => rule.test(complaint))),
    [],
  );
}

for (const [suite, rules, runs] of [
  [memoiseSuite(createSha256Suite(asSha256)), RANGE_RULES, RUNS],
  [memoiseSuite(poseidon2Suite), RANGE_DIGESTS, Math.ceil(RUNS / 3)],
] as const) {
  const cases = new RangeCases(suite, keysOf(suite, LINES));
  const requests = ["accounts", CONTRACT].flatMap(tree => {
    const {nextFreeNode} = cases.treeOf(tree);
    const starts = Array.from({length: nextFreeNode}, (_, from) => from);
    return starts.flatMap(from => [1, 2, 3, 5, 4096].map(count => ({tree, from, count})));
  });

  test(`${suite.name}: every range of a small state is accepted, and forgeries of every class are refused`, t => {
    for (const request of requests) {
      const {root, bytes} = cases.prove(request);
      verifyLeaves(suite, root, request, bytes);
    }
    const names = cases.namesOf(requests);
    assert.ok(names.length >= 35, `${names.length} classes`);
    const forge = cases.forge.bind(cases);
    refuseAll(t, names, requests, runs, rules, forge, (request, {root, bytes}) =>
      verifyLeaves(suite, root, request, bytes),
    );
  });
}

for (const [suite, rules, runs, longest] of [
  [memoiseSuite(createSha256Suite(asSha256)), CHANGE_RULES, RUNS, 2],
  [memoiseSuite(poseidon2Suite), CHANGE_DIGESTS, Math.ceil(RUNS / 3), 1],
] as const) {
  const cases = new ChangeCases(suite);
  const questions = CHANGED_TREES.flatMap(tree =>
    PAIRS.flatMap(([from, to]) => cases.listQuestions(tree, from, to, longest)),
  );
  const verify = (question: ChangesQuestion, bytes: Uint8Array) =>
    verifyChanges(suite, cases.rootsOf(question), question.request, bytes);

  test(`${suite.name}: all changes of a small chain are accepted, and forgeries of every class are refused`, t => {
    for (const question of questions) verify(question, cases.prove(question));
    const wholes = questions.filter(({request}) => request.tree === "all" && request.count === 4096);
    const names = listForgeries(cases, wholes);
    assert.ok(names.length >= 41, `${names.length} classes`);
    const forge = (name: string, question: ChangesQuestion, pick: Pick) =>
      forgeChanges(cases, name, question, pick);
    refuseAll(t, names, questions, runs, rules, forge, verify);
  });
}
