/**
 * Writes the keys of leaves (keys/leafKeys.ts), and keeps count of the leaves whose key is not known (keys/keyMark.ts).
 *
 * Keys are put into the batch before their block's record, so that who reaches a leaf finds its key.
 */
import type {StateReader} from "../block/stateReader.ts";
import {encodeKeyMark, type KeyMark} from "../keys/keyMark.ts";
import {decodeLeafKeys, encodeLeafKeys, type LeafKeys} from "../keys/leafKeys.ts";
import {UnknownKeys} from "../keys/unknownKeys.ts";
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import {leafKeysKey, MAX_U40, META} from "../record/layout.ts";
import {FIRST_FREE_NODE} from "../tree/emptyTree.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {removeRecords} from "./recordRemoval.ts";
import type {WriteBatch} from "./writeBatch.ts";
import type {WriteTarget} from "./writeTarget.ts";

export class LeafKeyWriter {
  /** As the batch has it, or will with `putMark`. */
  mark: KeyMark;
  private putBefore: KeyMark;

  constructor(
    private readonly reader: StateReader,
    private readonly batch: WriteBatch,
  ) {
    this.mark = reader.readKeyMark();
    this.putBefore = this.mark;
  }

  /** Finds keys also if they are not flushed yet. */
  read(owner: number, page: number): LeafKeys {
    const pending = this.batch.pendingRecord(leafKeysKey(owner, page));
    return pending === undefined
      ? this.reader.readLeafKeys(owner, page)
      : decodeLeafKeys(owner, page, pending);
  }

  put(owner: number, page: number, keys: LeafKeys): void {
    this.batch.put(leafKeysKey(owner, page), encodeLeafKeys(owner, keys));
  }

  /** For the changes that a block makes to one tree. @param isNew - all keys of the tree come now, those that are known */
  ofTree(owner: number, isNew = false): TreeKeys {
    return new TreeKeys(this, owner, isNew);
  }

  /** Adds the key of a leaf, if it has none yet. @param isNewest - the newest block has the leaf */
  fill(owner: number, leafIndex: number, key: Uint8Array, isNewest: boolean): void {
    const page = Math.floor(leafIndex / LEAVES_PER_PAGE);
    const keys = [...this.read(owner, page)];
    const position = leafIndex % LEAVES_PER_PAGE;
    if (keys[position] !== undefined) return;
    keys[position] = key;
    this.put(owner, page, keys);
    if (isNewest) this.addUnknown(-1);
  }

  noteDeleted(owner: number, leafIndex: number): void {
    if (this.mark.unknown > 0 && !this.unknown().isKnown(owner, leafIndex)) this.addUnknown(-1);
  }

  /** All slots of an account go with it. @param owner - the index of its leaf */
  noteGone(owner: number, slots: TreeRoot | undefined): void {
    if (this.mark.unknown > 0) this.addUnknown(this.unknown().addedSlots(owner, slots, undefined));
  }

  /** The keys of a block's leaves are filled in, and so are those of all blocks below it if none was passed over. */
  notePassed(block: number): void {
    if (block === this.mark.from && block < this.mark.to) this.mark = {...this.mark, from: block + 1};
  }

  /** Puts the count into the batch, if it has changed. */
  putMark(): void {
    if (this.mark === this.putBefore) return;
    this.batch.put(META.keys, encodeKeyMark(this.mark));
    this.putBefore = this.mark;
  }

  /** As `mark` was before changes that are dropped from the batch. */
  restore(mark: KeyMark): void {
    this.mark = mark;
    this.putBefore = mark;
  }

  private unknown(): UnknownKeys {
    return new UnknownKeys(this.batch, (owner, page) => this.read(owner, page));
  }

  private addUnknown(count: number): void {
    this.mark = {...this.mark, unknown: this.mark.unknown + count};
  }
}

/** Removes all keys, of a store without blocks. @throws StoreError STORE_DAMAGED, WRITE_FAILED */
export function removeLeafKeys({db}: WriteTarget): Promise<void> {
  return removeRecords(db, leafKeysKey(0, 0), leafKeysKey(MAX_U40, MAX_U40), "the keys of leaves");
}

/** The keys of the leaves that a block adds to one tree, in the order of their indexes, and those that it deletes. */
export class TreeKeys {
  private page = -1;
  private keys: (Uint8Array | undefined)[] = [];

  constructor(
    private readonly writer: LeafKeyWriter,
    private readonly owner: number,
    private readonly isNew: boolean,
  ) {}

  /** @param key - 20 bytes of an address, or a slot without leading zeros; kept until `finish` */
  add(leafIndex: number, key: Uint8Array): void {
    const page = Math.floor(leafIndex / LEAVES_PER_PAGE);
    const position = leafIndex % LEAVES_PER_PAGE;
    if (page !== this.page) {
      this.finish();
      this.page = page;
      // From this position on there may be keys of leaves that were rolled back, or that a refused block was to have.
      const hasOlder = position > 0 && leafIndex > FIRST_FREE_NODE && !this.isNew;
      this.keys = hasOlder ? this.writer.read(this.owner, page).slice(0, position) : [];
    }
    this.keys[position] = key;
  }

  /** Call it before the leaf is deleted. */
  noteDeleted(leafIndex: number): void {
    this.writer.noteDeleted(this.owner, leafIndex);
  }

  /** Puts what was added into the batch. */
  finish(): void {
    if (this.page >= 0) this.writer.put(this.owner, this.page, this.keys);
    this.page = -1;
  }
}
