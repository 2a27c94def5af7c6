/** Answers of chain_getChanges by docs/proofs.md, section 16, slow and obvious, in parts that can be forged. */
import {concatBytes, isEqual, joinBytes} from "../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {compactAnswers} from "../../../client/compact/compactProof.ts";
import type {HashSuite} from "../../../client/hash/hashSuites.ts";
import {bigEndian, type KeyOf, leafRecord, linksOf, widthOf} from "./rangeBytes.ts";
import type {ReferenceState} from "./referenceState.ts";
import {type ReferenceLeaf, ReferenceTree} from "./referenceTree.ts";

/** "value" is a leaf without its key. */
type BytesName = "positions" | "node" | "leaf" | "value" | "links";

/** A bit, or bytes. */
type ChangeItem =
  | {readonly what: "bit"; readonly bit: boolean}
  | {readonly what: BytesName; readonly bytes: Uint8Array};

export interface ChangeParts {
  /** 0x04 and the blocks. */
  readonly head: Uint8Array;
  /** Of a storage tree, its account's proofs. */
  readonly proofs: Uint8Array;
  readonly from: bigint;
  /** LAST_CURSOR: nothing is left. */
  readonly end: bigint;
  readonly items: readonly ChangeItem[];
}

export interface ComparedBlock {
  readonly number: number;
  readonly hash: string;
}

/** A state's trees at one block. */
interface Side {
  readonly accounts: ReferenceTree;
  /** Those of accounts, by hKey as text. */
  readonly storages: ReadonlyMap<string, ReferenceTree>;
  /** Of accounts, by address, as far as they were asked for. */
  readonly proofs: Map<string, Uint8Array>;
}

/** By account tree. A block keeps its own, whatever other blocks do. */
const madeSides = new WeakMap<ReferenceTree, Side>();

/** A leaf that differs. null: there is none. */
interface ReferenceChange {
  /** The account whose slot it is, its leaf index and its hKey; undefined: an account's own leaf. */
  readonly owner: {readonly account: number; readonly hKey: Uint8Array} | undefined;
  readonly leafIndex: number;
  readonly before: ReferenceLeaf | null;
  readonly after: ReferenceLeaf | null;
}

/** What a forger writes in place of a node: one that is sent once, or both without their leaves; or an open one that is the same. */
export type NodeLie = "before" | "after" | "closed" | "differs";
type SomeLeaf = ReferenceLeaf | null | undefined;

/** Who looks on, or forges. */
export interface ChangeHooks {
  /** Told of each leaf that the answer opens. */
  readonly onChange?: (change: ReferenceChange) => void;
  /** @returns undefined: the truth */
  readonly node?: (isSame: boolean, height: number) => NodeLie | undefined;
  /** @param leaf - before or after. null: deleted; undefined: its position is not in use. @returns what is written */
  readonly leaf?: (leaf: SomeLeaf) => SomeLeaf;
  /** @returns whether an unchanged value is sent again */
  readonly resends?: () => boolean;
}

export const LAST_CURSOR: bigint = 2n ** 80n - 1n;
const LAST_INDEX = 2 ** 40 - 1;

/**
 * @param tree - "accounts", "all" or an address
 */
export function changeParts(
  state: ReferenceState,
  blocks: readonly [from: ComparedBlock, to: ComparedBlock],
  tree: string,
  from: bigint,
  end: bigint,
  keyOf: KeyOf,
  hooks: ChangeHooks = {},
): ChangeParts {
  const head = blocks.map(({number, hash}) =>
    concatBytes(bigEndian(number, 6), decodeHex(hash), state.stateRoot(number)),
  );
  const sides = blocks.map(({number}) => sideOf(state, number)) as [Side, Side];
  const writer = new ChangesWriter(state.suite, keyOf, from, end, tree === "all", hooks);
  const proofs: Uint8Array[] = [];
  if (tree === "accounts" || tree === "all") writer.writeAccounts(...sides);
  else {
    for (const [i, {number}] of blocks.entries()) {
      const {proofs: made} = sides[i] as Side;
      const proof = made.get(tree) ?? proveAccount(state, number, tree);
      made.set(tree, proof);
      proofs.push(bigEndian(proof.length, 2), proof);
    }
    writer.writeStorageOf(state.suite.hashAddress(decodeHex(tree.toLowerCase())), ...sides);
  }
  const items = writer.items;
  return {head: concatBytes(bigEndian(4, 1), ...head), proofs: joinBytes(proofs), from, end, items};
}

function proveAccount(state: ReferenceState, block: number, address: string): Uint8Array {
  const answer = state.prove(block, address, []);
  return compactAnswers(state.suite, [{address, storageKeys: []}], [answer]);
}

function sideOf(state: ReferenceState, block: number): Side {
  const accounts = state.accountTree(block);
  const made = madeSides.get(accounts);
  if (made !== undefined) return made;
  const storages = state.listAddresses(block).map(address => {
    const hKey = state.suite.hashAddress(decodeHex(address));
    return [encodeHex(hKey), state.readAccount(block, address)?.storage as ReferenceTree] as const;
  });
  const side = {accounts, storages: new Map(storages), proofs: new Map()};
  madeSides.set(accounts, side);
  return side;
}

export function joinChanges({head, proofs, from, end, items}: ChangeParts): Uint8Array {
  const parts = [head, proofs, bigEndian(from, 10), bigEndian(end, 10)];
  let bits: Uint8Array | undefined;
  let unused = 0;
  for (const item of items) {
    if (item.what !== "bit") parts.push(item.bytes);
    else {
      if (unused === 0) {
        bits = new Uint8Array(1);
        parts.push(bits);
        unused = 8;
      }
      unused--;
      if (item.bit) (bits as Uint8Array)[0] = ((bits as Uint8Array)[0] as number) + 2 ** unused;
    }
  }
  return joinBytes(parts);
}

class ChangesWriter {
  readonly items: ChangeItem[] = [];
  private readonly newTree: ReferenceTree;
  private readonly from: {readonly account: number; readonly slot: number};
  private readonly end: {readonly account: number; readonly slot: number};

  constructor(
    private readonly suite: HashSuite,
    private readonly keyOf: KeyOf,
    from: bigint,
    end: bigint,
    private readonly hasStorage: boolean,
    private readonly hooks: ChangeHooks,
  ) {
    this.newTree = ReferenceTree.create(suite);
    const [fromCursor, endCursor] = [from, end].map(cursor => ({
      account: Number(cursor / 2n ** 40n),
      slot: Number(cursor % 2n ** 40n),
    })) as [typeof this.from, typeof this.end];
    this.from = fromCursor;
    this.end = endCursor;
  }

  writeAccounts(before: Side, after: Side): void {
    const {from, end} = this;
    const closed = end.slot === 0 ? end.account : LAST_INDEX;
    this.writeTree(before.accounts, after.accounts, undefined, from.account, end.account, closed, change => {
      const {leafIndex, before: old, after: young} = change;
      if (leafIndex !== from.account || from.slot === 0) this.hooks.onChange?.(change);
      const leaf = old ?? young;
      if (!this.hasStorage || leaf === null) return;
      const hKey = encodeHex(leaf.hKey);
      const [oldStorage, youngStorage] = [
        old && before.storages.get(hKey),
        young && after.storages.get(hKey),
      ];
      this.writeStorage({account: leafIndex, hKey: leaf.hKey}, oldStorage, youngStorage);
    });
  }

  writeStorageOf(hKey: Uint8Array, before: Side, after: Side): void {
    const key = encodeHex(hKey);
    const find = ({accounts}: Side) =>
      accounts.positions.findIndex(leaf => leaf !== null && isEqual(leaf.hKey, hKey));
    const indexes = [...new Set([find(before), find(after)])].filter(index => index >= 0);
    for (const account of indexes.sort((a, b) => a - b)) {
      const trees = [before, after].map(side =>
        find(side) === account ? side.storages.get(key) : undefined,
      );
      this.writeStorage({account, hKey}, trees[0], trees[1]);
    }
  }

  private writeStorage(
    owner: NonNullable<ReferenceChange["owner"]>,
    before: ReferenceTree | null | undefined,
    after: ReferenceTree | null | undefined,
  ): void {
    const {from, end, newTree} = this;
    const {account} = owner;
    const [old, young] = [before ?? newTree, after ?? newTree];
    if (isEqual(old.topRoot(), young.topRoot()) || account < from.account || account > end.account) return;
    const first = account === from.account ? from.slot : 0;
    const last = account === end.account ? end.slot : LAST_INDEX;
    this.writeTree(old, young, owner, first, last, last, change => this.hooks.onChange?.(change));
  }

  /** @param last - no leaf above it is opened. @param closed - nor is this one, at which the answer ends */
  private writeTree(
    before: ReferenceTree,
    after: ReferenceTree,
    owner: ReferenceChange["owner"],
    from: number,
    last: number,
    closed: number,
    onChange: (change: ReferenceChange) => void,
  ): void {
    const isAccounts = owner === undefined;
    const sides = [before, after] as const;
    const used = sides.map(({nextFreeNode}) => nextFreeNode) as [number, number];
    const positions = Math.max(...used);
    const write = (what: BytesName, bytes: Uint8Array) => void this.items.push({what, bytes});
    const visit = (height: number, index: number): void => {
      const start = index * 2 ** height;
      if (start >= positions) return;
      const [old, young] = sides.map(tree => tree.node(height, index)) as [Uint8Array, Uint8Array];
      const lie = this.hooks.node?.(isEqual(old, young), height);
      const isSame = lie === undefined ? isEqual(old, young) : lie === "before" || lie === "after";
      const isBeside = start + 2 ** height <= from || start > last || (height === 0 && start === closed);
      this.items.push({what: "bit", bit: !isSame});
      if (isSame) {
        if (start < Math.min(...used)) write("node", lie === "after" ? young : old);
      } else if (isBeside || lie === "closed") {
        if (start < used[0]) write("node", old);
        if (start < used[1]) write("node", young);
      } else if (height > 0) {
        visit(height - 1, 2 * index);
        visit(height - 1, 2 * index + 1);
      } else {
        this.writeLeaf(sides, start, isAccounts, widthOf(positions));
        const [oldLeaf, youngLeaf] = sides.map(tree => tree.positions[start] ?? null) as [
          ReferenceLeaf | null,
          ReferenceLeaf | null,
        ];
        onChange({owner, leafIndex: start, before: oldLeaf, after: youngLeaf});
      }
    };
    write("positions", concatBytes(...used.map(count => bigEndian(count, 5))));
    let height = 0;
    while (2 ** height < positions) height++;
    visit(height, 0);
  }

  private writeLeaf(
    sides: readonly [ReferenceTree, ReferenceTree],
    index: number,
    isAccounts: boolean,
    width: number,
  ): void {
    const {suite, keyOf, items} = this;
    const record = (leaf: ReferenceLeaf | null, hasKey = true) =>
      leafRecord(suite, leaf, index, isAccounts, width, keyOf, hasKey);
    const {leaf: lie = leaf => leaf} = this.hooks;
    const [old, young] = sides.map(({positions}) => lie(positions[index])) as [SomeLeaf, SomeLeaf];
    if (old !== undefined) items.push({what: "leaf", bytes: record(old)});
    if (young === undefined) return;
    if (index < 2 || !old) items.push({what: "leaf", bytes: record(young)});
    else {
      const hasValue = young === null || !isEqual(old.hVal, young.hVal) || this.hooks.resends?.() === true;
      items.push({what: "bit", bit: hasValue});
      if (hasValue) items.push({what: "value", bytes: record(young, false)});
      else items.push({what: "links", bytes: linksOf(young as ReferenceLeaf, width)});
    }
  }
}
