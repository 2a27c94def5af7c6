/** The slots that a block changes in one account, applied to the account's storage tree by ascending hKey. */
import type {SlotDifference} from "../block/accountDifference.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {compareWordAt, inHKeyOrder} from "../hash/hKeyOrder.ts";
import {toHex} from "../hex.ts";
import type {AccountStorage} from "../tree/account.ts";
import {stripZeros} from "../tree/shortNumber.ts";
import {newTreeRoot} from "../tree/treeRoot.ts";
import {checkSlotBefore} from "./beforeCheck.ts";
import {LeafKeyWriter} from "./leafKeyWriter.ts";
import type {TreeContext} from "./treeSeal.ts";
import {TreeWriter} from "./treeWriter.ts";
import type {WriteBatch} from "./writeBatch.ts";

const NO_BYTES = new Uint8Array(0);

export class SlotWriter {
  constructor(
    private readonly context: TreeContext,
    private readonly reader: StateReader,
    private readonly batch: WriteBatch,
  ) {}

  /**
   * Flushes the batch whenever it is full. @param owner - the index of the account's leaf
   *
   * @returns the account's storage after the writes; undefined if it never had a slot
   * @throws StoreError BLOCK_INVALID, BEFORE_MISMATCH, TREE_FULL, WRITE_FAILED, and those of reading
   */
  async apply(
    owner: number,
    old: AccountStorage | undefined,
    slots: readonly SlotDifference[],
    where: () => string,
  ): Promise<AccountStorage | undefined> {
    if (slots.every(isRead)) {
      this.check(old, slots, where);
      return old;
    }
    const {suite, empty} = this.context;
    const tree = new TreeWriter(this.context, old?.tree ?? newTreeRoot(empty));
    const keys = new LeafKeyWriter(this.reader, this.batch, owner);
    const slotAt = (position: number): SlotDifference => slots[position] as SlotDifference;
    let last: Buffer | undefined;
    for (const {position, hKey} of inHKeyOrder(slots.length, i => suite.hashSlot(slotAt(i).slot))) {
      const difference = slotAt(position);
      if (last !== undefined && compareWordAt(last, 0, hKey) === 0)
        throw new StoreError("BLOCK_INVALID", `${where()}: slot ${toHex(difference.slot)} twice`);
      last = hKey;
      this.applySlot(tree, keys, hKey, difference, where);
      if (tree.needsSeal) tree.seal();
      if (this.batch.isFull) await this.batch.flush();
    }
    keys.finish();
    const root = tree.seal();
    return root.rootPage === 0 ? undefined : {storageRoot: tree.topRoot(), tree: root};
  }

  /** Compares slots that the block only read. */
  check(storage: AccountStorage | undefined, slots: readonly SlotDifference[], where: () => string): void {
    if (slots.length === 0) return;
    const {suite, empty} = this.context;
    const tree = new TreeWriter(this.context, storage?.tree ?? newTreeRoot(empty));
    for (const {slot, before} of slots) {
      if (before === undefined) continue;
      const position = tree.find(suite.hashSlot(slot));
      const current = position.present ? tree.leaf(position.leafIndex).value : NO_BYTES;
      checkSlotBefore(slot, before, current, where);
      if (tree.needsSeal) tree.seal(); // forgets what was read
    }
  }

  private applySlot(
    tree: TreeWriter,
    keys: LeafKeyWriter,
    hKey: Uint8Array,
    {slot, value, before, reset}: SlotDifference,
    where: () => string,
  ): void {
    let position = tree.find(hKey);
    if (before !== undefined) {
      const current = position.present ? tree.leaf(position.leafIndex).value : NO_BYTES;
      checkSlotBefore(slot, before, current, where);
    }
    const stored = stripZeros(value);
    if (position.present && (reset === true || stored.length === 0)) {
      tree.delete(position.leafIndex);
      position = tree.find(hKey);
    }
    if (stored.length === 0) return;
    const hVal = this.context.suite.hashSlotValue(value);
    if (!position.present) keys.add(tree.insert(position, hKey, hVal, stored), stripZeros(slot));
    else if (Buffer.compare(hVal, tree.leaf(position.leafIndex).hVal) !== 0)
      tree.update(position.leafIndex, hVal, stored);
  }
}

/** The block read the slot and did not change it. */
function isRead({value, before, reset}: SlotDifference): boolean {
  return before !== undefined && reset !== true && Buffer.compare(before, value) === 0;
}
