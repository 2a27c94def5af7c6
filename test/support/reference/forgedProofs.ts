/** Forgeries of valid proof bytes, by class. None may be accepted: one request and root have one valid proof. */
import {concatBytes, isEqual} from "../../../client/bytes/byteString.ts";
import {askAccounts} from "../../../client/compact/askedKeys.ts";
import {compactAnswers, verifyMultiProof} from "../../../client/compact/compactProof.ts";
import {decodeProofBytes, encodeProofBytes} from "../../../client/compact/proofBytes.ts";
import type {PartLeaf, TreePart} from "../../../client/compact/treePart.ts";
import {type HashSuite, newTreeRoot, zeroSubTrees} from "../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {
  COMPACT_REQUESTS,
  type CompactCase,
  CompactCases,
  type CompactRequestName,
  OTHER_LINES,
} from "./compactCases.ts";
import {complaintOf, forge, TREE_PART} from "./forgeries.ts";
import {applyEdits, listPlaces, readAt} from "./jsonPath.ts";

export interface ForgedProof extends CompactCase {
  /** Its class. */
  readonly name: string;
}

/** What is another than in the valid case. */
type NamedMade = readonly [name: string, made: Partial<CompactCase>];

const DEPTH = 40;
const REQUESTS = Object.keys(COMPACT_REQUESTS) as CompactRequestName[];
/** Requests whose proofs have absent keys, and a storage part. For uses that have no time for all. */
export const FEW_REQUESTS: readonly CompactRequestName[] = ["slots", "absent"];

/** Where the valid proofs come from, and what is taken from elsewhere. */
export class ForgerySource {
  readonly cases: CompactCases;
  /** The same accounts with other balances. */
  private readonly otherCases: CompactCases;

  constructor(readonly suite: HashSuite) {
    this.cases = new CompactCases(suite);
    this.otherCases = new CompactCases(suite, OTHER_LINES);
  }

  /** @param requests - of whose valid proofs they are made; default: all. @returns by class */
  list(requests: readonly CompactRequestName[] = REQUESTS): ReadonlyMap<string, readonly ForgedProof[]> {
    const classes = new Map<string, ForgedProof[]>();
    for (const requestName of requests) {
      const valid = this.prove(this.cases, COMPACT_REQUESTS[requestName], this.cases.state.latest);
      for (const [name, made] of this.forge(valid)) {
        const forged = {...valid, ...made, name};
        if (made.root === undefined && made.request === undefined && isEqual(forged.bytes, valid.bytes))
          continue;
        classes.set(name, [...(classes.get(name) ?? []), forged]);
      }
    }
    return classes;
  }

  private *forge(valid: CompactCase): Generator<NamedMade> {
    const part = this.decode(valid);
    // At block 0, what is deleted now was there: at positions that are empty now.
    const old = this.decode(this.prove(this.cases, valid.request, 0));
    const oldIndexes = listPlaces(old).filter(at => at.at(-1) === "leafIndex");
    const deleted = oldIndexes.map(at => readAt(old, at) as number);
    for (const {name, path, value} of forge(part, TREE_PART)) yield* this.encode(name, part, path, value());
    for (const path of listPlaces(part)
      .filter(at => at.at(-1) === "nextFreeNode")
      .map(at => at.slice(0, -1)))
      for (const [name, value] of this.listLies(readAt(part, path) as TreePart, deleted))
        yield* this.encode(name, part, path, value);
    yield* this.exchange(valid);
    yield* this.respell(valid);
  }

  /** The part with lies that need several fields. @param deleted - positions that are empty now */
  private *listLies(part: TreePart, deleted: readonly number[]): Generator<readonly [string, TreePart]> {
    const {nextFreeNode, keys, leaves} = part;
    const zero = zeroSubTrees(this.suite);
    const end = {content: {role: "end"}} as const;
    const ends = [0, 1].map(leafIndex => ({leafIndex, prev: 0, next: 1, bitmap: 0, siblings: [], ...end}));
    const none = {leaves: ends, keys: keys.map(() => ({left: 0, right: 1}))};
    for (const positions of [2, 3]) yield ["an empty tree", {...none, nextFreeNode: positions}];
    for (const [i, place] of keys.entries())
      for (const left of leaves.keys()) {
        for (const right of leaves.keys())
          yield ["other neighbours", {...part, keys: keys.with(i, {left, right})}];
        if ("left" in place) yield ["a leaf of its own", {...part, keys: keys.with(i, {leaf: left})}];
      }
    for (const [i, leaf] of leaves.entries()) {
      const {leafIndex, content} = leaf;
      const change = (fields: Partial<PartLeaf>) => ({...part, leaves: leaves.with(i, {...leaf, ...fields})});
      for (const index of deleted) yield ["a deleted position", change({leafIndex: index})];
      for (const index of [0, 1, nextFreeNode - 1])
        for (const prev of [0, 1, 2, 5])
          for (const next of [1, 2])
            yield ["head or tail in its place", change({leafIndex: index, prev, next, ...end})];
      for (let height = 0; height < DEPTH; height++)
        if (Math.floor(leaf.bitmap / 2 ** height) % 2 === 0) {
          yield ["a sibling more", change(withSibling(leaf, height, new Uint8Array(32).fill(1)))];
          yield ["an empty sibling", change(withSibling(leaf, height, zero[height] as Uint8Array))];
        }
      if (content.role === "neighbour")
        yield [
          "hKey and hVal swapped",
          change({content: {...content, hKey: content.hVal, hVal: content.hKey}}),
        ];
      for (const other of leaves)
        if (other.leafIndex !== leafIndex)
          yield ["the content of another leaf", change({content: other.content})];
    }
  }

  /** What is true elsewhere. */
  private *exchange(valid: CompactCase): Generator<NamedMade> {
    const {suite, cases, otherCases} = this;
    const {root, request, bytes} = valid;
    const elsewhere = [
      ["another tree", this.prove(otherCases, request, otherCases.state.latest)],
      ["another block", this.prove(cases, request, 0)],
    ] as const;
    for (const [name, other] of elsewhere) {
      yield [name, {bytes: other.bytes}];
      yield [name, {root: other.root}];
      for (let cut = 5; cut < Math.min(bytes.length, other.bytes.length); cut += 7) {
        yield [name, {bytes: graft(bytes, other.bytes, cut)}];
        yield [name, {bytes: graft(other.bytes, bytes, cut)}];
      }
    }
    for (const other of Object.values(COMPACT_REQUESTS))
      if (other !== request)
        yield ["another request", {bytes: this.prove(cases, other, cases.state.latest).bytes}];
    const roots = [otherCases.state.stateRoot(0), newTreeRoot(suite), suite.hash(root)];
    for (const other of [...roots, ...zeroSubTrees(suite)]) yield ["a stale root", {root: other}];
  }

  private *respell({bytes}: CompactCase): Generator<NamedMade> {
    const newRoot = newTreeRoot(this.suite);
    for (const [at, byte] of bytes.entries()) {
      for (const flip of [0x01, 0xff]) yield ["a byte", {bytes: bytes.with(at, byte ^ flip)}];
      yield ["truncation", {bytes: bytes.subarray(0, at)}];
      if (at % 5 === 1) yield ["truncation", {bytes: bytes.subarray(at)}];
      if (at < 8) continue;
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
      // Wherever a length byte may stand: the number has one byte too many, or becomes a byte longer by a leading zero.
      for (const length of [33, 0xc0 + 33]) yield ["a long number", {bytes: bytes.with(at, length)}];
      yield ["a leading zero", {bytes: concatBytes(before, Uint8Array.of(byte + 1, 0), after)}];
      // Wherever an account's flags may stand: it has storage, and the root of a new tree follows its balance of a byte.
      const account = concatBytes(Uint8Array.of(0x80), after.subarray(0, 2), newRoot, after.subarray(2));
      yield ["the root of a new tree", {bytes: concatBytes(before, account)}];
    }
    for (const more of [1, 2, 5, 31, 32, 64, 128])
      for (const filling of [0, 1, 0xff])
        yield ["extension", {bytes: concatBytes(bytes, new Uint8Array(more).fill(filling))}];
    yield ["extension", {bytes: concatBytes(bytes, bytes)}];
  }

  private prove({state}: CompactCases, request: CompactCase["request"], block: number): CompactCase {
    const answers = request.map(({address, storageKeys}) => state.prove(block, address, storageKeys));
    return {root: state.stateRoot(block), request, bytes: compactAnswers(this.suite, request, answers)};
  }

  private decode({bytes, request}: CompactCase): TreePart {
    return structuredClone(decodeProofBytes(this.suite, bytes, askAccounts(this.suite, request)));
  }

  /** @returns nothing if it cannot be written as proof bytes */
  private *encode(
    name: string,
    root: TreePart,
    path: readonly string[],
    value: unknown,
  ): Generator<NamedMade> {
    let bytes: Uint8Array;
    try {
      bytes = encodeProofBytes(this.suite, "accounts", applyEdits(root, [{path, value}]) as TreePart);
    } catch (error) {
      if (error instanceof ProofError) return;
      throw error;
    }
    yield [name, {bytes}];
  }
}

export function refusalOf(suite: HashSuite, {root, request, bytes}: CompactCase): string {
  return complaintOf(() => verifyMultiProof(suite, root, request, bytes));
}

/** The beginning of one proof and the end of another. */
function graft(first: Uint8Array, second: Uint8Array, cut: number): Uint8Array {
  return concatBytes(first.subarray(0, cut), second.subarray(cut));
}

/** Sends a sibling where the bitmap has none. */
function withSibling({bitmap, siblings}: PartLeaf, height: number, sibling: Uint8Array): Partial<PartLeaf> {
  let before = 0;
  for (let h = 0; h < height; h++) before += Math.floor(bitmap / 2 ** h) % 2;
  return {bitmap: bitmap + 2 ** height, siblings: siblings.toSpliced(before, 0, sibling)};
}
