/** Writes the keys of a block's new leaves before its record, so that every reader of a leaf finds its key. */
import type {StateReader} from "../block/stateReader.ts";
import {leafKeysKey} from "../record/layout.ts";
import {FIRST_FREE_NODE} from "../tree/emptyTree.ts";
import {decodeLeafKeys, encodeLeafKeys, KEYS_PER_RECORD, type LeafKeys} from "../tree/leafKeys.ts";
import type {WriteBatch} from "./writeBatch.ts";

export class LeafKeyWriter {
  private page = -1;
  private keys: (Uint8Array | undefined)[] = [];

  /** @param owner - of the tree. @param isNew - all keys of the tree come now */
  constructor(
    private readonly reader: StateReader,
    private readonly batch: WriteBatch,
    private readonly owner: number,
    private readonly isNew = false,
  ) {}

  /** @param key - 20 bytes of an address, or a slot without leading zeros; kept until `finish` */
  add(leafIndex: number, key: Uint8Array): void {
    const page = Math.floor(leafIndex / KEYS_PER_RECORD);
    const position = leafIndex % KEYS_PER_RECORD;
    if (page !== this.page) {
      this.finish();
      this.page = page;
      // The record may have keys at later positions: of leaves that were rolled back, or of a refused block.
      const hasOlder = position > 0 && leafIndex > FIRST_FREE_NODE && !this.isNew;
      this.keys = hasOlder ? this.read(page).slice(0, position) : [];
    }
    this.keys[position] = key;
  }

  finish(): void {
    const {owner, page} = this;
    if (page >= 0) this.batch.put(leafKeysKey(owner, page), encodeLeafKeys(owner, this.keys));
    this.page = -1;
  }

  /** Also finds keys that are not flushed yet. */
  private read(page: number): LeafKeys {
    const {owner} = this;
    const pending = this.batch.pendingRecord(leafKeysKey(owner, page));
    return pending === undefined
      ? this.reader.readLeafKeys(owner, page)
      : decodeLeafKeys(owner, page, pending);
  }
}
