/** Writes the state trie of a block of which only the paths of some contracts, and of some of their slots, are known. */
import type {SliceBlock, SliceContract, WholeSlot} from "../block/sliceBlock.ts";
import {NodeMissing, StoreError} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import {putMissing} from "../trie/missingNodes.ts";
import {EMPTY_TRIE, NO_NODES, TrieReader, type TrieRoot, TrieWriter} from "../trie/trie.ts";
import {encodeSlot, readTrieAccount} from "../trie/trieAccount.ts";
import type {WriteBatch} from "./writeBatch.ts";

/** As many entries as an update takes. */
const SLOTS_AT_ONCE = 4096;

interface SlicedBlock {
  readonly trie: TrieRoot;
  /** Contracts (0x text) of which the block changed more slots than were named: they may be missing later. */
  readonly incomplete: readonly string[];
}

export class SliceTrie {
  private readonly reader: TrieReader;
  private readonly writer: TrieWriter;

  constructor(private readonly batch: WriteBatch) {
    this.reader = new TrieReader(batch);
    this.writer = new TrieWriter(batch);
  }

  /**
   * @param parent - the parent's trie; undefined if it is not stored
   * @throws StoreError SLICE_INVALID if the nodes do not lead from the root to every contract and changed slot
   */
  async apply(
    parent: TrieRoot | undefined,
    {number, stateRoot}: {readonly number: number; readonly stateRoot: Uint8Array},
    {nodes, contracts, isFresh}: SliceBlock,
  ): Promise<SlicedBlock> {
    const before = isFresh ? undefined : parent;
    const known = contracts.map(
      ({address}) => before && readStorage(this.reader, before, keccak256(address)),
    );
    for (const [i, {address, slots}] of contracts.entries()) {
      const storage = known[i];
      if (storage === undefined) continue;
      // A later block no longer leads to the nodes that this one replaces.
      for (const {slot, before} of slots)
        if (putMissing(this.reader, this.batch, storage, keccak256(slot), "slots", before) !== undefined)
          throw invalid(number - 1, address, slot);
    }
    this.writer.nodes = new Map(nodes.map(node => [toHex(keccak256(node)), node]));
    const storages = new Map<string, number>();
    const incomplete: string[] = [];
    for (const [i, contract] of contracts.entries()) {
      const path = keccak256(contract.address);
      const after = readStorage(this.writer, {root: stateRoot, page: 0}, path);
      if (after === undefined) throw invalid(number, contract.address);
      const {page, unexplained} = await this.applySlots(known[i], after.root, number, contract);
      storages.set(toHex(path), page);
      if (unexplained > 0) incomplete.push(toHex(contract.address));
    }
    // Where a contract is new, nodes that have not changed lead to it too.
    const isKnown = before !== undefined && !known.includes(undefined);
    const trie = this.writer.absorb(isKnown ? before : EMPTY_TRIE, stateRoot, "accounts", storages);
    this.writer.nodes = NO_NODES;
    return {trie, incomplete};
  }

  private async applySlots(
    before: TrieRoot | undefined,
    root: Uint8Array,
    number: number,
    {address, slots, isWhole, whole}: SliceContract,
  ): Promise<ReturnType<TrieWriter["absorb"]>> {
    if (before === undefined && whole !== undefined) return this.load(whole, root, number, address);
    // The node lost the parent's state while blocks were read side by side. The next attempt reads all slots.
    if (before === undefined && isWhole === true) throw invalid(number, address);
    // The account's leaf is the same too, and would not lead to a new page. The nodes were put as those before the block.
    const isSameRoot = before !== undefined && isSame(before.root, root);
    const after = isSameRoot
      ? {...before, unexplained: 0}
      : this.writer.absorb(before ?? EMPTY_TRIE, root, "slots");
    for (const {slot} of slots)
      if (
        whereKnown(() => this.writer.find(after.page, keccak256(slot), "slots", root) !== undefined) ===
        undefined
      )
        throw invalid(number, address, slot);
    return after;
  }

  private async load(
    whole: readonly WholeSlot[],
    root: Uint8Array,
    number: number,
    address: Uint8Array,
  ): Promise<ReturnType<TrieWriter["absorb"]>> {
    let trie = EMPTY_TRIE;
    for (let at = 0; at < whole.length; at += SLOTS_AT_ONCE) {
      const slots = whole.slice(at, at + SLOTS_AT_ONCE);
      const writes = slots.map(({path, value}) => ({path, value: encodeSlot(value)}));
      trie = this.writer.update(trie, writes, "slots");
      await this.batch.flushIfFull();
    }
    if (!isSame(trie.root, root))
      throw new StoreError(
        "SLICE_INVALID",
        `block ${number}: the slots of ${toHex(address)} give the storage root ${toHex(trie.root)}, its account has ${toHex(root)}`,
      );
    return {...trie, unexplained: 0};
  }
}

/** @returns undefined if the account's path is not known */
export function readStorage(
  tries: TrieReader,
  {page, root}: TrieRoot,
  path: Uint8Array,
): TrieRoot | undefined {
  const read = (): TrieRoot => {
    const value = tries.find(page, path, "accounts", root);
    return value === undefined ? EMPTY_TRIE : readTrieAccount(value).storage;
  };
  return whereKnown(read);
}

/** @returns undefined if a node is not known */
function whereKnown<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NodeMissing) return undefined;
    throw error;
  }
}

function invalid(block: number, address: Uint8Array, slot?: Uint8Array): StoreError {
  const what = slot === undefined ? "the account" : `slot ${toHex(slot)}`;
  return new StoreError(
    "SLICE_INVALID",
    `block ${block}: no proof leads from the state root to ${what} of ${toHex(address)}`,
  );
}
