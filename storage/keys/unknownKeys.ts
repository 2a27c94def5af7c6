/** Counts leaves without a known key, by what two versions of the state differ in. */
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import type {PageReader} from "../page/pages.ts";
import {storageTreeOf} from "../tree/account.ts";
import {changedLeaves} from "../tree/changedLeaves.ts";
import {FIRST_FREE_NODE} from "../tree/emptyTree.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {ACCOUNTS_OWNER, NO_KEYS, type ReadLeafKeys} from "./leafKeys.ts";

/** What is counted: pages of trees, and the keys of their leaves. */
export class UnknownKeys {
  /** The keys that were read last: leaves come page by page. */
  private keys = NO_KEYS;
  private keysOf = {owner: -1, page: -1};

  constructor(
    private readonly pages: PageReader,
    private readonly readKeys: ReadLeafKeys,
  ) {}

  /**
   * How many more leaves without a known key the state `after` has, accounts and slots.
   *
   * @param before, after - account trees; undefined: no state
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  added(before: TreeRoot | undefined, after: TreeRoot): number {
    let added = 0;
    for (const {leafIndex, before: old, after: young} of changedLeaves(this.pages, before, after)) {
      if (leafIndex < FIRST_FREE_NODE) continue;
      added += this.addedAt(ACCOUNTS_OWNER, leafIndex, old !== undefined, young !== undefined);
      added += this.addedSlots(leafIndex, storageTreeOf(old), storageTreeOf(young));
    }
    return added;
  }

  /** As `added`, of one account's slots. @param owner - the index of its leaf */
  addedSlots(owner: number, before: TreeRoot | undefined, after: TreeRoot | undefined): number {
    let added = 0;
    for (const {leafIndex, before: old, after: young} of changedLeaves(this.pages, before, after))
      if (leafIndex >= FIRST_FREE_NODE)
        added += this.addedAt(owner, leafIndex, old !== undefined, young !== undefined);
    return added;
  }

  isKnown(owner: number, leafIndex: number): boolean {
    const page = Math.floor(leafIndex / LEAVES_PER_PAGE);
    if (this.keysOf.owner !== owner || this.keysOf.page !== page) {
      this.keys = this.readKeys(owner, page);
      this.keysOf = {owner, page};
    }
    return this.keys[leafIndex % LEAVES_PER_PAGE] !== undefined;
  }

  private addedAt(owner: number, leafIndex: number, wasThere: boolean, isThere: boolean): number {
    if (wasThere === isThere || this.isKnown(owner, leafIndex)) return 0;
    return isThere ? 1 : -1;
  }
}
