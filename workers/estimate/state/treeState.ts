/** The state of one block as an EVM reads it, by point reads of the store's trees. It keeps no values. */

import {type ByteKey, toKey} from "../../../evm/execution/byteKey.ts";
import type {SourceAccount, StateSource} from "../../../evm/interpreter/stateSource.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {KECCAK_EMPTY} from "../../../storage/hash/keccak.ts";
import {readBigEndian} from "../../../storage/rlp/rlpReader.ts";
import {decodeStoredAccount} from "../../../storage/tree/account.ts";
import {accountTree, storageTree, type Tree} from "../../../storage/tree/tree.ts";
import type {TreeRoot} from "../../../storage/tree/treeRoot.ts";
import {readBlockHash} from "./blockHash.ts";

const NO_BYTES = new Uint8Array(0);

export class TreeState implements StateSource {
  private readonly tree: Tree;
  /** Of the accounts that were read. undefined: it has none. */
  private readonly storages = new Map<ByteKey, Tree | undefined>();

  /** @param accounts - the account tree of a block record */
  constructor(
    private readonly store: StateReader,
    accounts: TreeRoot,
  ) {
    this.tree = accountTree(store, accounts);
  }

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  readAccount(address: Uint8Array): SourceAccount | undefined {
    const hKey = this.store.suite.hashAddress(address);
    const leaf = this.tree.read(hKey);
    if (leaf === undefined) return undefined;
    const {nonce, balance, code, storage} = decodeStoredAccount(leaf.value);
    const slots = storage === undefined ? undefined : storageTree(this.store, storage.tree, hKey);
    this.storages.set(toKey(address), slots);
    return {
      nonce: readBigEndian(nonce),
      balance: readBigEndian(balance),
      codeHash: code === undefined ? KECCAK_EMPTY : new Uint8Array(code.keccakCodeHash),
      hasStorage: slots !== undefined && !slots.isEmpty,
    };
  }

  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const key = toKey(address);
    // Another source has read the account for a run that was paused there.
    if (!this.storages.has(key)) this.readAccount(address);
    const leaf = this.storages.get(key)?.read(this.store.suite.hashSlot(slot));
    // A copy, since pages are views of LevelDB's memory.
    return leaf === undefined ? NO_BYTES : new Uint8Array(leaf.value);
  }

  /** @throws StoreError RECORD_MISSING */
  readCode(codeHash: Uint8Array): Uint8Array {
    return this.store.readCode(codeHash);
  }

  readBlockHash(number: number): Uint8Array {
    return readBlockHash(this.store, number);
  }
}
