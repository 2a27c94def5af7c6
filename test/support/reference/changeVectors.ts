/** Vectors for anyone who writes a verifier of chain_getChanges (docs/proofs.md, section 16): good and forged answers. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {HashSuite} from "../../../client/hash/hashSuites.ts";
import {verifyChanges} from "../../../client/leaves/changeRange.ts";
import {type ChangeHooks, joinChanges, LAST_CURSOR} from "./changeBytes.ts";
import {CHANGED_TREES, CHANGING, ChangeCases, type ChangesQuestion, RECREATED} from "./changeCases.ts";
import {forgeChanges, listForgeries} from "./forgedChanges.ts";
import {complaintOf, firstOfEach, pickFrom} from "./forgeries.ts";
import {memoiseSuite} from "./memoisedSuite.ts";
import {type ExpectedLeaf, expectLeaf} from "./rangeVectors.ts";
import {ruleOf} from "./verifierVectors.ts";

/** null: there is no leaf. */
export interface ExpectedChange {
  readonly before: ExpectedLeaf | null;
  readonly after: ExpectedLeaf | null;
}

interface ExpectedChanges {
  readonly accounts: readonly ExpectedChange[];
  readonly storages: readonly {
    readonly account: number;
    readonly address: string;
    readonly slots: readonly ExpectedChange[];
  }[];
  /** Where the next answer begins, as a quantity. null: nothing is left. */
  readonly end: string | null;
}

interface ChangeVector {
  readonly what: string;
  /** The state roots that the verifier trusts. */
  readonly fromRoot: string;
  readonly toRoot: string;
  readonly request: {readonly tree: string; readonly cursor: string; readonly count: number};
  readonly proof: string;
  readonly expect: "refused" | ExpectedChanges;
}

export interface ChangeVectors {
  readonly suite: HashSuite["name"];
  readonly vectors: readonly ChangeVector[];
}

/** What is compared as a whole: tree and blocks. */
const WHOLES: readonly (readonly [tree: string, from: number, to: number])[] = [
  ["accounts", 0, 1],
  ["all", 1, 2],
  ["all", 2, 1],
  [CHANGING, 0, 2],
  [RECREATED, 0, 2],
  [RECREATED, 2, 0],
];
/** Forgeries of a class that are looked at. The first of each class and the first of each rule are kept. */
const TRIES = 9;

export function makeChangeVectors(plain: HashSuite): ChangeVectors {
  const cases = new ChangeCases(memoiseSuite(plain));
  const wholes = WHOLES.map(asked => cases.listQuestions(...asked, 0)[0] as ChangesQuestion);
  const pages = cases.listQuestions("all", 0, 2, 3).filter(({request}) => request.count === 3);
  const absent = CHANGED_TREES.at(-1) as string;
  const vectors = [
    ...wholes.map(question => makeGood(cases, nameOf(question), question)),
    ...pages.filter((_, i) => i % 6 === 0).map((question, i) => makeGood(cases, `page ${i}`, question)),
    makeGood(cases, "one block", cases.listQuestions("all", 1, 1, 0)[0] as ChangesQuestion),
    makeGood(cases, "an absent account", cases.listQuestions(absent, 0, 2, 0)[0] as ChangesQuestion),
    ...makeForged(cases, [...pages, ...wholes.slice(3)]),
  ];
  return {suite: plain.name, vectors};
}

function nameOf({fromBlock, toBlock, request}: ChangesQuestion): string {
  return `${request.tree}, block ${fromBlock} to ${toBlock}`;
}

function makeGood(cases: ChangeCases, what: string, question: ChangesQuestion): ChangeVector {
  const accounts: ExpectedChange[] = [];
  const storages = new Map<number, {account: number; address: string; slots: ExpectedChange[]}>();
  const onChange: ChangeHooks["onChange"] = ({owner, leafIndex, before, after}) => {
    const [old, young] = [before, after].map(leaf =>
      expectLeaf(leaf, leafIndex, hKey => cases.keyOf(hKey, owner === undefined)),
    ) as [ExpectedLeaf | null, ExpectedLeaf | null];
    const change = {before: old, after: young};
    if (owner === undefined) accounts.push(change);
    else {
      const {account} = owner;
      const address = encodeHex(cases.keyOf(owner.hKey, true));
      const storage = storages.get(account) ?? {account, address, slots: []};
      storages.set(account, storage);
      storage.slots.push(change);
    }
  };
  const parts = cases.partsOf(question, {onChange});
  const end = question.end === LAST_CURSOR ? null : `0x${question.end.toString(16)}`;
  const expect = {accounts, storages: [...storages.values()], end};
  return {what, ...askedBy(cases, question), proof: encodeHex(joinChanges(parts)), expect};
}

function askedBy(
  cases: ChangeCases,
  question: ChangesQuestion,
): Pick<ChangeVector, "fromRoot" | "toRoot" | "request"> {
  const {from, to} = cases.rootsOf(question);
  const {tree, cursor, count} = question.request;
  const request = {tree, cursor: `0x${cursor.toString(16)}`, count};
  return {fromRoot: encodeHex(from), toRoot: encodeHex(to), request};
}

function makeForged(cases: ChangeCases, questions: readonly ChangesQuestion[]): ChangeVector[] {
  // The same numbers at each making.
  const pick = pickFrom(5);
  return firstOfEach(listForgeries(cases, questions), TRIES, name => {
    const question = questions[pick(questions.length)] as ChangesQuestion;
    const bytes = forgeChanges(cases, name, question, pick);
    if (bytes === undefined) return undefined;
    const roots = cases.rootsOf(question);
    const rule = ruleOf(complaintOf(() => verifyChanges(cases.suite, roots, question.request, bytes)));
    const what = `${name}: ${rule}`;
    return {rule, what, ...askedBy(cases, question), proof: encodeHex(bytes), expect: "refused"};
  });
}
