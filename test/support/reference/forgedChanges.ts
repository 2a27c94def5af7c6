/** Makes forgeries of answers of chain_getChanges, by class: of each field, of the bytes, and those below. None may be accepted. */
import {isEqual} from "../../../client/bytes/byteString.ts";
import {type ChangeParts, joinChanges, LAST_CURSOR, type NodeLie} from "./changeBytes.ts";
import {CHANGED_TREES, type ChangeCases, type ChangesQuestion} from "./changeCases.ts";
import {BYTE_FORGERIES, CHANGED_LEAVES, forgeField, isIn, namesOf, type Pick} from "./forgeries.ts";

interface Valid {
  readonly cases: ChangeCases;
  readonly question: ChangesQuestion;
  readonly parts: ChangeParts;
  /** The same question about other blocks, another tree, or other places. */
  other(change: Partial<Omit<ChangesQuestion, "request">> & {tree?: string; cursor?: bigint}): ChangeParts;
}

/** A forged answer; undefined: there is no such forgery of this one. */
type Forge = (valid: Valid, pick: Pick) => ChangeParts | Uint8Array | undefined;

/** Number and hash of the blocks, which `verifyChanges` does not compare. */
function isUnproven(at: number): boolean {
  return (at >= 1 && at < 39) || (at >= 71 && at < 109);
}

export function forgeChanges(
  cases: ChangeCases,
  name: string,
  question: ChangesQuestion,
  pick: Pick,
): Uint8Array | undefined {
  const parts = cases.partsOf(question);
  const {request} = question;
  const whole = joinChanges(parts);
  const valid: Valid = {
    ...{cases, question, parts},
    other: ({tree = request.tree, cursor = request.cursor, ...change}) =>
      cases.partsOf({...question, ...change, request: {...request, tree, cursor}}),
  };
  const forged = isIn(BYTE_FORGERIES, name)
    ? BYTE_FORGERIES[name](whole, pick, isUnproven)
    : isIn(FORGERIES, name)
      ? FORGERIES[name](valid, pick)
      : forgeField(parts, CHANGED_LEAVES, name, pick);
  if (forged === undefined) return undefined;
  const bytes = forged instanceof Uint8Array ? forged : joinChanges(forged);
  return isEqual(bytes, whole) ? undefined : bytes;
}

/** The classes of forgeries of any of these answers. */
export function listForgeries(cases: ChangeCases, questions: readonly ChangesQuestion[]): readonly string[] {
  const answers = questions.map(question => cases.partsOf(question));
  const names = namesOf(CHANGED_LEAVES, answers);
  return [...Object.keys(FORGERIES), ...Object.keys(BYTE_FORGERIES), ...names];
}

/** The answer with a lie about one of the nodes that `is` takes. */
function lieAboutNode(
  {cases, question}: Valid,
  pick: Pick,
  is: (isSame: boolean, height: number) => boolean,
  lie: NodeLie,
): ChangeParts | undefined {
  let left = pick(12);
  return cases.partsOf(question, {
    node: (isSame, height) => (is(isSame, height) && left-- === 0 ? lie : undefined),
  });
}

function isDifferent(isSame: boolean): boolean {
  return !isSame;
}

const FORGERIES = {
  "a change hidden under a node of the block before": (valid, pick) =>
    lieAboutNode(valid, pick, isDifferent, "before"),
  "a change hidden under a node of the block after": (valid, pick) =>
    lieAboutNode(valid, pick, isDifferent, "after"),
  "a change left closed": (valid, pick) => lieAboutNode(valid, pick, isDifferent, "closed"),
  "a node that is the same, opened": (valid, pick) => lieAboutNode(valid, pick, isSame => isSame, "differs"),
  "a leaf that is the same, shown": (valid, pick) =>
    lieAboutNode(valid, pick, (isSame, height) => isSame && height === 0, "differs"),
  "two pages swapped": ({cases, question, parts, other}, pick) => {
    const {request, fromBlock, toBlock} = question;
    const all = cases.listQuestions(request.tree, fromBlock, toBlock, 3);
    const {request: asked, end} = all[pick(all.length)] as ChangesQuestion;
    // From the same place on, a page may end anywhere.
    if (asked.cursor === request.cursor) return undefined;
    const page = other({cursor: asked.cursor, end});
    return {...page, from: parts.from, end: pick(2) === 0 ? parts.end : page.end};
  },
  "a page skipped": ({cases, question, parts}, pick) => {
    const {request, fromBlock, toBlock} = question;
    const later = cases
      .listQuestions(request.tree, fromBlock, toBlock, 1)
      .map(({request: {cursor}}) => cursor)
      .filter(cursor => cursor > request.cursor);
    const end = [...later, LAST_CURSOR][pick(later.length + 1)] as bigint;
    return {...parts, end};
  },
  "older blocks": ({cases, question, parts, other}, pick) => {
    const blocks = Array.from({length: cases.blocks}, (_, number) => number);
    const [fromBlock, toBlock] = [pick(blocks.length), pick(blocks.length)];
    const {head, proofs, items} = other({
      fromBlock,
      toBlock,
      end: pick(2) === 0 ? LAST_CURSOR : question.end,
    });
    return [
      {...parts, items},
      {...parts, proofs, items},
      {...parts, head, items},
      {...parts, head, proofs, items},
      {...parts, proofs},
    ][pick(5)];
  },
  "the blocks exchanged": ({question, parts, other}, pick) => {
    const {fromBlock, toBlock} = question;
    const {head, proofs, items} = other({fromBlock: toBlock, toBlock: fromBlock});
    return [
      {...parts, head},
      {...parts, head, proofs},
      {...parts, head, proofs, items},
      {...parts, items},
    ][pick(4)];
  },
  "another chain": ({cases, question, parts}, pick) => {
    const {head, proofs, items} = cases.partsOf(question, {}, true);
    return pick(2) === 0 ? {...parts, head, proofs, items} : {...parts, proofs, items};
  },
  "another tree": ({parts, other}, pick) => {
    const {proofs, items} = other({tree: CHANGED_TREES[pick(CHANGED_TREES.length)] as string});
    return [
      {...parts, proofs, items},
      {...parts, items},
      {...parts, proofs},
    ][pick(3)];
  },
  "the storage of all left out": ({question, parts, other}) => {
    const {end, request} = question;
    if (request.tree !== "all" || request.cursor % 2n ** 40n !== 0n || end !== LAST_CURSOR) return undefined;
    return {...other({tree: "accounts"}), end: parts.end};
  },
  "a leaf shown as deleted": ({cases, question}, pick) => {
    let left = pick(8);
    return cases.partsOf(question, {leaf: leaf => (leaf && left-- === 0 ? null : leaf)});
  },
  "a value sent again": ({cases, question}, pick) => {
    let left = pick(3);
    return cases.partsOf(question, {resends: () => left-- === 0});
  },
  "flags that nobody needs": ({parts}, pick) => {
    const more = Array.from({length: 1 + pick(7)}, () => ({what: "bit", bit: pick(2) === 1}) as const);
    return {...parts, items: [...parts.items, ...more, {what: "bit", bit: true}]};
  },
} satisfies Record<string, Forge>;
