/**
 * Makes forgeries of a valid proof, by class. Each differs from the valid proof in its bytes, root or request, and none may be accepted:
 * a verifier accepts one string of bytes for a request and a root.
 */

import {concatBytes, isEqual} from "../../../client/bytes/byteString.ts";
import {askAccounts} from "../../../client/compact/askedKeys.ts";
import {compactAnswers, verifyMultiProof} from "../../../client/compact/compactProof.ts";
import {decodeProofBytes, encodeProofBytes} from "../../../client/compact/proofBytes.ts";
import type {PartLeaf, TreePart} from "../../../client/compact/treePart.ts";
import {type HashSuite, newTreeRoot, word, zeroSubTrees} from "../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {
  COMPACT_REQUESTS,
  type CompactCase,
  CompactCases,
  type CompactRequestName,
  OTHER_LINES,
} from "./compactCases.ts";

type Mutable<Fields> = {-readonly [Name in keyof Fields]: Fields[Name]};
type EditedLeaf = Mutable<PartLeaf>;

interface EditedPart {
  nextFreeNode: number;
  keys: TreePart["keys"][number][];
  leaves: EditedLeaf[];
}

type Change = (part: EditedPart) => void;
type Forge = (valid: CompactCase, source: ForgerySource) => Iterable<CompactCase>;

const LAST_POSITION = 2 ** 40 - 1;
const DEPTH = 40;
const REQUESTS = Object.keys(COMPACT_REQUESTS) as CompactRequestName[];
/** Requests whose proofs have absent keys, and a storage part. For uses that have no time for all. */
export const FEW_REQUESTS: readonly CompactRequestName[] = ["slots", "absent"];
const SIBLING = new Uint8Array(32).fill(1);

/** Where the valid proofs come from, and what is taken from elsewhere. */
export class ForgerySource {
  readonly cases: CompactCases;
  readonly suite: HashSuite;
  /** The same accounts with other balances. */
  readonly otherCases: CompactCases;

  constructor(suite: HashSuite) {
    this.suite = suite;
    this.cases = new CompactCases(suite);
    this.otherCases = new CompactCases(suite, OTHER_LINES);
  }

  /** The forgeries of one class. @param requests - of whose valid proofs they are made; default: all */
  *forge(name: ForgeryClass, requests: readonly CompactRequestName[] = REQUESTS): Generator<CompactCase> {
    for (const requestName of requests) {
      const request = COMPACT_REQUESTS[requestName];
      const valid = this.prove(this.cases, request, this.cases.state.latest);
      for (const forged of FORGERY_CLASSES[name](valid, this))
        if (
          forged.root !== valid.root ||
          forged.request !== valid.request ||
          !isEqual(forged.bytes, valid.bytes)
        )
          yield forged;
    }
  }

  prove({state}: CompactCases, request: CompactCase["request"], block: number): CompactCase {
    const answers = request.map(({address, storageKeys}) => state.prove(block, address, storageKeys));
    return {root: state.stateRoot(block), request, bytes: compactAnswers(this.suite, request, answers)};
  }

  /** One forgery for each change, of the part of the account tree and of that of a storage tree. */
  *edit(valid: CompactCase, listChanges: (part: EditedPart) => Iterable<Change>): Generator<CompactCase> {
    for (const tree of [0, 1]) {
      let changes: Change[] = [];
      editProof(this.suite, valid, (...parts) => {
        if (tree === 0 || parts[1] !== parts[0]) changes = [...listChanges(parts[tree] as EditedPart)];
      });
      for (const change of changes)
        yield {
          ...valid,
          bytes: editProof(this.suite, valid, (...parts) => change(parts[tree] as EditedPart)),
        };
    }
  }
}

const FORGERY_CLASSES = {
  *"each byte"(valid) {
    for (let at = 0; at < valid.bytes.length; at++)
      for (const flip of [0x01, 0xff])
        yield {...valid, bytes: valid.bytes.with(at, (valid.bytes[at] as number) ^ flip)};
  },

  "node swaps": (valid, source) =>
    source.edit(valid, function* ({leaves}) {
      const places = leaves.flatMap(({siblings}, leaf) => siblings.map((_, at) => [leaf, at] as const));
      for (const [i, first] of places.entries())
        for (const second of places.slice(i + 1)) yield part => swapSiblings(part, first, second);
      for (const [i, {content}] of leaves.entries())
        if (content.role === "neighbour")
          yield part => {
            leafAt(part, i).content = {...content, hKey: content.hVal, hVal: content.hKey};
          };
    }),

  *"other tree"(valid, source) {
    const other = source.prove(source.otherCases, valid.request, source.otherCases.state.latest);
    yield {...valid, bytes: other.bytes};
    yield {...valid, root: other.root};
    const length = Math.min(valid.bytes.length, other.bytes.length);
    for (let cut = 5; cut < length; cut += 7) yield {...valid, bytes: graft(valid.bytes, other.bytes, cut)};
    for (const request of Object.values(COMPACT_REQUESTS)) {
      const {bytes} = source.prove(source.cases, request, source.cases.state.latest);
      if (request !== valid.request) yield {...valid, bytes};
    }
  },

  *"other block"(valid, source) {
    const old = source.prove(source.cases, valid.request, 0);
    yield {...valid, bytes: old.bytes};
    const length = Math.min(valid.bytes.length, old.bytes.length);
    for (let cut = 5; cut < length; cut += 7) {
      yield {...valid, bytes: graft(valid.bytes, old.bytes, cut)};
      yield {...valid, bytes: graft(old.bytes, valid.bytes, cut)};
    }
  },

  *"stale root"(valid, {suite, cases, otherCases}) {
    const zero = zeroSubTrees(suite);
    const {root} = valid;
    const roots = [
      cases.state.stateRoot(0),
      otherCases.state.stateRoot(0),
      newTreeRoot(suite),
      suite.hash(root),
    ];
    for (const other of [...roots, ...zero]) yield {...valid, root: other};
  },

  "neighbour games": (valid, source) =>
    source.edit(valid, function* ({keys, leaves}) {
      for (const [i, place] of keys.entries()) {
        for (let left = 0; left < leaves.length; left++)
          for (let right = 0; right < leaves.length; right++)
            yield part => {
              part.keys[i] = {left, right};
            };
        if ("left" in place)
          for (const leaf of [place.left, place.right])
            yield part => {
              part.keys[i] = {leaf};
            };
      }
      for (const [i, {leafIndex}] of leaves.entries())
        for (const link of ["prev", "next"] as const)
          for (const other of [0, 1, leafIndex, ...leaves.map(leaf => leaf.leafIndex)])
            yield part => {
              leafAt(part, i)[link] = other;
            };
    }),

  "head and tail leaves": (valid, source) =>
    source.edit(valid, function* ({leaves}) {
      for (const i of leaves.keys())
        for (const leafIndex of [0, 1]) {
          yield part => {
            leafAt(part, i).leafIndex = leafIndex;
          };
          for (const link of [0, 1, 2, 5])
            yield part => {
              const content = {role: "end"} as const;
              Object.assign(leafAt(part, i), {leafIndex, prev: link, next: 1, content});
            };
          yield part => {
            Object.assign(leafAt(part, i), {leafIndex, prev: 0, next: 2, content: {role: "end"}});
          };
        }
    }),

  "index arithmetic at 2^40": (valid, source) =>
    source.edit(valid, function* ({nextFreeNode, leaves}) {
      for (const power of [8, 16, 24, 31, 32, 39]) {
        const far = 2 ** power;
        for (const n of [nextFreeNode + far, LAST_POSITION, LAST_POSITION - far, far])
          yield part => {
            part.nextFreeNode = n;
          };
        for (const [i, leaf] of leaves.entries()) {
          for (const field of ["leafIndex", "prev", "next"] as const)
            for (const n of [leaf[field] + far, LAST_POSITION - leaf[field], LAST_POSITION])
              yield part => {
                leafAt(part, i)[field] = n;
              };
          if (Math.floor(leaf.bitmap / far) % 2 === 0)
            for (const sibling of [SIBLING, zeroSubTrees(source.suite)[power] as Uint8Array])
              yield part => insertSibling(leafAt(part, i), power, sibling);
        }
      }
    }),

  *"empty tree"(valid, source) {
    yield* source.edit(valid, function* ({keys}) {
      const ends: EditedLeaf[] = [0, 1].map(leafIndex => ({
        ...{leafIndex, prev: 0, next: 1, bitmap: 0, siblings: []},
        content: {role: "end"},
      }));
      for (const nextFreeNode of [0, 1, 2, 3])
        yield part => {
          part.nextFreeNode = nextFreeNode;
        };
      for (const nextFreeNode of [2, 3])
        yield part => {
          part.nextFreeNode = nextFreeNode;
          part.leaves = ends;
          part.keys = keys.map(() => ({left: 0, right: 1}));
        };
    });
    yield {...valid, root: newTreeRoot(source.suite)};
  },

  *"reused deleted positions"(valid, source) {
    // At block 0, what is deleted now was there: at positions that are empty now.
    const old = source.prove(source.cases, valid.request, 0);
    const oldIndexes = new Set<number>();
    editProof(source.suite, old, (...parts) => {
      for (const {leaves} of parts) for (const {leafIndex} of leaves) oldIndexes.add(leafIndex);
    });
    yield* source.edit(valid, function* ({nextFreeNode, leaves}) {
      for (const [i, {leafIndex}] of leaves.entries())
        for (const other of [...oldIndexes, leafIndex ^ 1, nextFreeNode - 1])
          yield part => {
            leafAt(part, i).leafIndex = other;
          };
      for (let less = 1; less < 6; less++)
        yield part => {
          part.nextFreeNode = nextFreeNode - less;
        };
    });
  },

  *truncation(valid) {
    const {bytes} = valid;
    for (let length = 0; length < bytes.length; length++) yield {...valid, bytes: bytes.subarray(0, length)};
    for (let from = 1; from < bytes.length; from += 5) yield {...valid, bytes: bytes.subarray(from)};
  },

  *extension(valid, source) {
    const {bytes} = valid;
    for (const more of [1, 2, 5, 31, 32, 64, 128])
      for (const filling of [0, 1, 0xff])
        yield {...valid, bytes: concatBytes(bytes, new Uint8Array(more).fill(filling))};
    yield {...valid, bytes: concatBytes(bytes, bytes)};
    yield* source.edit(valid, function* ({leaves}) {
      for (const [i, leaf] of leaves.entries()) {
        yield part => {
          part.leaves.splice(i, 0, leaf);
        };
        for (let height = 0; height < DEPTH; height++)
          if (Math.floor(leaf.bitmap / 2 ** height) % 2 === 0)
            yield part => insertSibling(leafAt(part, i), height, SIBLING);
      }
    });
  },

  *"non-canonical numbers and siblings"(valid, source) {
    const {bytes} = valid;
    const zero = zeroSubTrees(source.suite);
    // Wherever a length byte may stand: the number has one byte too many, or becomes a byte longer by a leading zero.
    for (let at = 8; at < bytes.length; at++) {
      for (const length of [33, 0xc0 + 33]) yield {...valid, bytes: bytes.with(at, length)};
      const longer = [(bytes[at] as number) + 1, 0];
      yield {
        ...valid,
        bytes: concatBytes(bytes.subarray(0, at), Uint8Array.from(longer), bytes.subarray(at + 1)),
      };
    }
    // Wherever an account's flags may stand: it has storage, and the root of a new tree follows its balance of a byte.
    for (let at = 8; at < bytes.length - 3; at++) {
      const account = [0x80, ...bytes.subarray(at + 1, at + 3), ...newTreeRoot(source.suite)];
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 3)];
      yield {...valid, bytes: concatBytes(before, Uint8Array.from(account), after)};
    }
    yield* source.edit(valid, function* ({leaves}) {
      for (const [i, leaf] of leaves.entries()) {
        const {content} = leaf;
        for (let height = 0; height < DEPTH; height++)
          if (Math.floor(leaf.bitmap / 2 ** height) % 2 === 0)
            yield part => insertSibling(leafAt(part, i), height, zero[height] as Uint8Array);
        if (content.role === "own" && content.storage === undefined)
          yield part => {
            // The value of a slot, or the storageRoot of an account.
            const value = content.value.length === 32 ? word(0) : content.value.slice().fill(0, 64, 96);
            leafAt(part, i).content = {...content, value};
          };
      }
    });
  },
} satisfies Record<string, Forge>;

type ForgeryClass = keyof typeof FORGERY_CLASSES;

export const CLASSES = Object.keys(FORGERY_CLASSES) as ForgeryClass[];

/** The message with which client/ refuses. @throws Error if it accepts */
export function complaintOf(verify: () => unknown): string {
  try {
    verify();
  } catch (error) {
    if (error instanceof ProofError) return error.message;
    throw error;
  }
  throw new Error("the client accepts the proof");
}

export function refusalOf(suite: HashSuite, {root, request, bytes}: CompactCase): string {
  return complaintOf(() => verifyMultiProof(suite, root, request, bytes));
}

function leafAt({leaves}: EditedPart, i: number): EditedLeaf {
  const leaf = leaves[i];
  if (leaf === undefined) throw new Error(`no leaf ${i}`);
  return leaf;
}

function swapSiblings(
  part: EditedPart,
  [leafA, a]: readonly [number, number],
  [leafB, b]: readonly [number, number],
): void {
  const siblingA = leafAt(part, leafA).siblings[a] as Uint8Array;
  const siblingB = leafAt(part, leafB).siblings[b] as Uint8Array;
  leafAt(part, leafA).siblings = leafAt(part, leafA).siblings.with(a, siblingB);
  leafAt(part, leafB).siblings = leafAt(part, leafB).siblings.with(b, siblingA);
}

/** The beginning of one proof and the end of another. */
function graft(first: Uint8Array, second: Uint8Array, cut: number): Uint8Array {
  return concatBytes(first.subarray(0, cut), second.subarray(cut));
}

/** @param change - gets the part of the account tree, and that of the first storage tree if there is one, else the former again */
function editProof(
  suite: HashSuite,
  {bytes, request}: CompactCase,
  change: (part: EditedPart, storage: EditedPart) => void,
): Uint8Array {
  const part = structuredClone(decodeProofBytes(suite, bytes, askAccounts(suite, request))) as EditedPart;
  const storages = part.leaves.flatMap(({content}) =>
    content.role === "own" ? (content.storage ?? []) : [],
  );
  change(part, (storages[0] ?? part) as EditedPart);
  return encodeProofBytes(suite, "accounts", part);
}

/** Sends a sibling where the bitmap has none. */
function insertSibling(leaf: EditedLeaf, height: number, sibling: Uint8Array): void {
  let before = 0;
  for (let h = 0; h < height; h++) before += Math.floor(leaf.bitmap / 2 ** h) % 2;
  leaf.bitmap += 2 ** height;
  leaf.siblings = [...leaf.siblings.slice(0, before), sibling, ...leaf.siblings.slice(before)];
}
