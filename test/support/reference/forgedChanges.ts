/** Makes forgeries of answers of chain_getChanges, by class. None may be accepted. */
import {concatBytes, isEqual} from "../../../client/bytes/byteString.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {
  type BytesName,
  type ChangeItem,
  type ChangeParts,
  joinChanges,
  LAST_CURSOR,
  type NodeLie,
} from "./changeBytes.ts";
import {CHANGED_TREES, type ChangeCases, type ChangesQuestion} from "./changeCases.ts";
import type {KeyOf} from "./rangeBytes.ts";
import type {ReferenceLeaf} from "./referenceTree.ts";

/** @param n - above 0. @returns a number from 0 to below `n`, another one at each call */
type Pick = (n: number) => number;

/** What a forgery is made of. */
interface Valid {
  readonly cases: ChangeCases;
  readonly question: ChangesQuestion;
  readonly parts: ChangeParts;
  /** The same question about other blocks, another tree, or other places. */
  other(change: Partial<Omit<ChangesQuestion, "request">> & {tree?: string; cursor?: bigint}): ChangeParts;
}

/** A forged answer; undefined: there is no such forgery of this one. */
type Forge = (valid: Valid, pick: Pick) => ChangeParts | Uint8Array | undefined;

/** Where number and hash of the blocks stand, which `verifyChanges` does not compare. */
const UNPROVEN = [
  {from: 1, to: 39},
  {from: 71, to: 109},
];

/** @returns undefined if there is no such forgery of this answer */
export function forgeChanges(
  cases: ChangeCases,
  name: ForgeryName,
  question: ChangesQuestion,
  pick: Pick,
): Uint8Array | undefined {
  const parts = cases.partsOf(question);
  const {request} = question;
  const forged = FORGERIES[name](
    {
      ...{cases, question, parts},
      other: ({tree = request.tree, cursor = request.cursor, ...change}) =>
        cases.partsOf({...question, ...change, request: {...request, tree, cursor}}),
    },
    pick,
  );
  if (forged === undefined) return undefined;
  const bytes = forged instanceof Uint8Array ? forged : joinChanges(forged);
  return isEqual(bytes, joinChanges(parts)) ? undefined : bytes;
}

/** The answer with a lie about one of the nodes that `is` takes. */
function lieAboutNode(
  {cases, question}: Valid,
  pick: Pick,
  is: (isSame: boolean, height: number) => boolean,
  lie: NodeLie,
): ChangeParts | undefined {
  let nodes = 0;
  cases.partsOf(question, {
    node: (isSame, height) => {
      if (is(isSame, height)) nodes++;
      return undefined;
    },
  });
  if (nodes === 0) return undefined;
  let left = pick(nodes);
  return cases.partsOf(question, {
    node: (isSame, height) => (is(isSame, height) && left-- === 0 ? lie : undefined),
  });
}

/** The answer with a lie about one of its leaves, before or after. @param change - undefined: there is none such */
function lieAboutLeaf(
  {cases, question}: Valid,
  pick: Pick,
  change: (leaf: ReferenceLeaf, isAccount: boolean) => ReferenceLeaf | null | undefined,
): ChangeParts | undefined {
  let leaves = 0;
  cases.partsOf(question, {
    leaf: leaf => {
      if (leaf) leaves++;
      return leaf;
    },
  });
  if (leaves === 0) return undefined;
  let left = pick(leaves);
  return cases.partsOf(question, {
    leaf: (leaf, _side, isAccount) => {
      if (!leaf || left-- !== 0) return leaf;
      const changed = change(leaf, isAccount);
      return changed === undefined ? leaf : changed;
    },
  });
}

/** Where the items of a kind are. */
function placesOf(items: readonly ChangeItem[], what: ChangeItem["what"]): number[] {
  return items.flatMap((item, i) => (item.what === what ? [i] : []));
}

/** One of the items of a kind, changed. @param change - undefined: there is none such */
function withItem(
  {parts}: Valid,
  pick: Pick,
  what: BytesName,
  change: (bytes: Uint8Array) => readonly Uint8Array[],
): ChangeParts | undefined {
  const places = placesOf(parts.items, what);
  if (places.length === 0) return undefined;
  const at = places[pick(places.length)] as number;
  const bytes = (parts.items[at] as {readonly bytes: Uint8Array}).bytes;
  return {...parts, items: parts.items.toSpliced(at, 1, ...change(bytes).map(one => ({what, bytes: one})))};
}

function isDifferent(isSame: boolean): boolean {
  return !isSame;
}

const FORGERIES = {
  "a leaf left out": (valid, pick) => withItem(valid, pick, pick(3) === 0 ? "value" : "leaf", () => []),
  "a leaf twice": (valid, pick) =>
    withItem(valid, pick, pick(3) === 0 ? "value" : "leaf", bytes => [bytes, bytes]),
  "a leaf moved": ({parts}, pick) => {
    const places = placesOf(parts.items, "leaf");
    if (places.length < 2) return undefined;
    const [at, to] = [places[pick(places.length)] as number, places[pick(places.length)] as number];
    return {...parts, items: parts.items.toSpliced(at, 1).toSpliced(to, 0, parts.items[at] as ChangeItem)};
  },
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
  "another end": ({parts}, pick) => {
    const {from, end} = parts;
    const ends = [end - 1n, end + 1n, from, from + 1n, ((end >> 40n) + 1n) << 40n, (end >> 40n) << 40n];
    const other = ends[pick(ends.length)] as bigint;
    return other < 0n || other > LAST_CURSOR ? undefined : {...parts, end: other};
  },
  "another beginning": ({parts}, pick) => ({...parts, from: parts.from + BigInt(1 + pick(3))}),
  "another next free index": (valid, pick) =>
    withItem(valid, pick, "positions", bytes => {
      const at = 5 * pick(2);
      const number = Number(`0x${Buffer.from(bytes.subarray(at, at + 5)).toString("hex")}`);
      const others = [number + 1, number - 1, 2 * number, 2, 0, 1, 300, 2 ** 40 - 1];
      const other = word(others[pick(others.length)] as number).subarray(27);
      return [concatBytes(bytes.subarray(0, at), other, bytes.subarray(at + 5))];
    }),
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
    const {head, proofs, items} = cases.partsOf(question, {}, cases.keyOf, true);
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
  "a wrong key": ({cases, question}, pick) => {
    let left = pick(4);
    const keyOf: KeyOf = (hKey, isAccounts) => {
      const key = cases.keyOf(hKey, isAccounts);
      if (left-- !== 0) return key;
      return flip(key.length === 0 ? Uint8Array.of(0) : key, 8 * key.length - 1 - pick(3));
    };
    return cases.partsOf(question, {}, keyOf);
  },
  "changed links": (valid, pick) => {
    const side = (["prev", "next"] as const)[pick(2)] as "prev" | "next";
    const to = pick(20);
    return lieAboutLeaf(valid, pick, leaf => ({...leaf, [side]: to}));
  },
  "changed links where only they changed": (valid, pick) =>
    withItem(valid, pick, "links", bytes => [flip(bytes, 8 * pick(bytes.length) + 5 + pick(3))]),
  "a changed value": (valid, pick) => {
    const bit = pick(8);
    return lieAboutLeaf(valid, pick, leaf => ({
      ...leaf,
      value: flip(leaf.value, 256 * (1 + pick(leaf.value.length / 32)) - 1 - bit),
    }));
  },
  "a leaf shown as deleted": (valid, pick) => lieAboutLeaf(valid, pick, () => null),
  "a value sent again": ({cases, question}, pick) => {
    let left = pick(3);
    return cases.partsOf(question, {resends: () => left-- === 0});
  },
  "flags of a value that has no key": (valid, pick) =>
    withItem(valid, pick, "value", bytes => [flip(bytes, pick(4))]),
  "changed nodes": (valid, pick) => {
    const other = word(1 + pick(9));
    const ways: ((node: Uint8Array) => readonly Uint8Array[])[] = [
      () => [],
      node => [node, other],
      node => [flip(node, pick(256))],
      () => [new Uint8Array(32)],
      () => [other],
    ];
    return withItem(
      valid,
      pick,
      "node",
      ways[pick(ways.length)] as (node: Uint8Array) => readonly Uint8Array[],
    );
  },
  "two nodes swapped": ({parts}, pick) => {
    const places = placesOf(parts.items, "node");
    if (places.length < 2) return undefined;
    const [a, b] = [places[pick(places.length)] as number, places[pick(places.length)] as number];
    const items = parts.items.with(a, parts.items[b] as ChangeItem).with(b, parts.items[a] as ChangeItem);
    return {...parts, items};
  },
  "a flag": ({parts}, pick) => {
    const places = placesOf(parts.items, "bit");
    if (places.length === 0) return undefined;
    const at = places[pick(places.length)] as number;
    const {bit} = parts.items[at] as {readonly bit: boolean};
    return {...parts, items: parts.items.with(at, {what: "bit", bit: !bit})};
  },
  "flags that nobody needs": ({parts}, pick) => {
    const more = Array.from({length: 1 + pick(7)}, () => ({what: "bit", bit: pick(2) === 1}) as const);
    return {...parts, items: [...parts.items, ...more, {what: "bit", bit: true}]};
  },
  "a bit": ({parts}, pick) => {
    const bytes = joinChanges(parts);
    let at = pick(bytes.length - 76);
    for (const {from, to} of UNPROVEN) if (at >= from) at += to - from;
    return flip(bytes, 8 * at + pick(8));
  },
  /** Under poseidon2, no limb is as large as these. */
  "words that are no digests": (valid, pick) =>
    withItem(valid, pick, "node", node => {
      const at = 4 * pick(8);
      return [node.with(at, node[at] === 0xff ? 0xfe : 0xff)];
    }),
  "another first byte": ({parts}, pick) => joinChanges(parts).with(0, pick(256)),
  "a byte more or less": ({parts}, pick) => {
    const bytes = joinChanges(parts);
    if (pick(2) === 0) return bytes.subarray(0, pick(bytes.length));
    return concatBytes(bytes, new Uint8Array(1 + pick(64)));
  },
} satisfies Record<string, Forge>;

export type ForgeryName = keyof typeof FORGERIES;

export const FORGERY_NAMES = Object.keys(FORGERIES) as readonly ForgeryName[];

/** @param bit - counted from the first byte's highest */
function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const at = Math.max(0, bit >> 3);
  return bytes.with(at, (bytes[at] as number) ^ (0x80 >> (bit & 7)));
}
