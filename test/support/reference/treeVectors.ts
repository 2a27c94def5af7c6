/** Test vectors of one storage tree: its root after every operation, and the opening of every leaf at the end. */
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {type HashSuite, hashWord, word} from "../../../client/hash/hashSuites.ts";
import {ReferenceTree} from "./referenceTree.ts";

interface TreeStep {
  readonly what: string;
  readonly slot: string;
  /** Zero deletes. */
  readonly value: string;
  readonly hKey: string;
  readonly hVal: string;
  /** After the operation. */
  readonly nextFreeNode: number;
  readonly subRoot: string;
  readonly topRoot: string;
}

interface LeafVector {
  readonly slot: string;
  readonly leafIndex: number;
  /** prev | next | hKey | hVal */
  readonly opening: string;
  readonly leafHash: string;
}

export interface TreeVectors {
  readonly suite: HashSuite["name"];
  readonly steps: readonly TreeStep[];
  readonly leaves: readonly LeafVector[];
}

const MAX_WORD = 2n ** 256n - 1n;
const WRITES: readonly (readonly [what: string, slot: bigint, value: bigint])[] = [
  ["the first leaf", 1n, 10n],
  ["a second one", 2n, 11n],
  ["a leaf changes in place", 1n, 12n],
  ["the lowest slot", 0n, 1n],
  ["the highest slot and value", MAX_WORD, MAX_WORD],
  ["a leaf goes; its position stays empty", 2n, 0n],
  ["what is absent is deleted: nothing changes", 2n, 0n],
  ["the slot comes back at a position of its own", 2n, 11n],
  ["the last position of the first eight", 3n, 1n << 128n],
];

export function makeTreeVectors(suite: HashSuite): TreeVectors {
  const tree = ReferenceTree.create(suite);
  const present = new Set<bigint>();
  const steps = WRITES.map(([what, slot, value]) => {
    const [hKey, hVal] = [hashWord(suite, slot), hashWord(suite, value)];
    if (value === 0n) tree.delete(hKey);
    else tree.put(hKey, hVal, word(value));
    if (value === 0n) present.delete(slot);
    else present.add(slot);
    return {
      what,
      slot: encodeHex(word(slot)),
      value: encodeHex(word(value)),
      hKey: encodeHex(hKey),
      hVal: encodeHex(hVal),
      nextFreeNode: tree.nextFreeNode,
      subRoot: encodeHex(tree.subRoot()),
      topRoot: encodeHex(tree.topRoot()),
    };
  });
  return {suite: suite.name, steps, leaves: [...present].map(slot => openLeaf(suite, tree, slot))};
}

function openLeaf(suite: HashSuite, tree: ReferenceTree, slot: bigint): LeafVector {
  const text = encodeHex(word(slot));
  const proof = tree.prove(text, hashWord(suite, slot));
  if (!("leafIndex" in proof)) throw new Error(`slot ${slot} is absent`);
  const opening = proof.proof.proofRelatedNodes.at(-1) as string;
  return {
    slot: text,
    leafIndex: proof.leafIndex,
    opening,
    leafHash: encodeHex(suite.hash(decodeHex(opening))),
  };
}
