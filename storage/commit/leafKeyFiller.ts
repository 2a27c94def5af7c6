/**
 * Fills in keys that are not known, from a block that is held already and that a source gives again.
 *
 * A key is hashed and looked up, so what a source says is never believed: a key that no leaf has changes nothing. It is looked up
 * in the newest block and in the oldest kept one that has the block's leaves: a leaf that was deleted in between is only in the second.
 */
import type {AccountDifferences} from "../block/accountDifferences.ts";
import type {HashSuite} from "../hash/suite.ts";
import {ACCOUNTS_OWNER} from "../keys/leafKeys.ts";
import type {PageReader} from "../page/pages.ts";
import {storageTreeOf} from "../tree/account.ts";
import {stripZeros} from "../tree/shortNumber.ts";
import {findKey, readLeaf} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import type {LeafKeyWriter} from "./leafKeyWriter.ts";

/** The account tree of a kept block. */
export interface FilledTree {
  readonly accounts: TreeRoot;
  readonly isNewest: boolean;
}

export class LeafKeyFiller {
  constructor(
    private readonly suite: HashSuite,
    private readonly pages: PageReader,
    private readonly keys: LeafKeyWriter,
  ) {}

  /** @param trees - the newest block's first. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  fill(accounts: AccountDifferences, trees: readonly FilledTree[]): void {
    for (let at = 0; at < accounts.count; at++) {
      const {address, change} = accounts.at(at);
      const hKey = this.suite.hashAddress(address);
      const slots = (change?.storage ?? []).map(({slot}) => ({
        key: stripZeros(slot),
        hKey: this.suite.hashSlot(slot),
      }));
      for (const tree of trees) this.fillAccount(tree, {key: address, hKey}, slots);
    }
  }

  private fillAccount(
    {accounts, isNewest}: FilledTree,
    account: HashedKey,
    slots: readonly HashedKey[],
  ): void {
    const owner = this.fillLeaf(ACCOUNTS_OWNER, accounts, account, isNewest);
    if (owner === undefined || slots.length === 0) return;
    const storage = storageTreeOf(readLeaf(this.pages, accounts, owner));
    if (storage !== undefined) for (const slot of slots) this.fillLeaf(owner, storage, slot, isNewest);
  }

  /** @returns the index of the key's leaf; undefined: the tree does not have the key */
  private fillLeaf(
    owner: number,
    tree: TreeRoot,
    {key, hKey}: HashedKey,
    isNewest: boolean,
  ): number | undefined {
    if (tree.rootPage === 0) return undefined;
    const position = findKey(this.pages, tree, hKey);
    if (!position.present) return undefined;
    this.keys.fill(owner, position.leafIndex, key, isNewest);
    return position.leafIndex;
  }
}

interface HashedKey {
  readonly key: Uint8Array;
  readonly hKey: Uint8Array;
}
