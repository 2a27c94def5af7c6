/**
 * The state of a block as our own EVM reads it from its state trie: accounts, slots and codes. What the next block changes comes back
 * as differences.
 */
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import type {TrieRoot} from "../../storage/trie/trie.ts";
import type {Evm} from "../interpreter/evm.ts";
import type {SourceAccount, StateSource} from "../interpreter/stateSource.ts";
import {readWritten} from "../interpreter/written.ts";
import type {TrieState} from "../trie/trieState.ts";
import type {TrieStore} from "../trie/trieStore.ts";
import {differAccount, type WrittenSlot} from "./accountDifference.ts";
import {type ByteKey, sameBytes, toKey} from "./byteKey.ts";

/** About 15 MB. */
const MAX_STORAGES = 100_000;

export class ChainState implements StateSource {
  /** Of accounts that were read since the last change. */
  private readonly storages = new Map<ByteKey, TrieRoot>();

  constructor(
    private readonly store: Pick<TrieStore, "findCode">,
    private readonly trie: TrieState,
    readonly readBlockHash: (number: number) => Uint8Array,
  ) {}

  /** Call it when the trie has moved on. */
  clearCache(): void {
    this.storages.clear();
  }

  readAccount(address: Uint8Array): SourceAccount | undefined {
    const account = this.trie.readAccount(address);
    if (account === undefined) return undefined;
    const {nonce, balance, codeHash, storage} = account;
    if (this.storages.size >= MAX_STORAGES) this.storages.clear();
    this.storages.set(toKey(address), storage);
    return {nonce, balance, codeHash, hasStorage: storage.page !== 0};
  }

  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const known = this.storages.get(toKey(address));
    if (known === undefined) this.readAccount(address);
    const storage = known ?? this.storages.get(toKey(address));
    return storage === undefined ? NO_BYTES : this.trie.readSlot(storage, slot);
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    const code = this.store.findCode(codeHash);
    if (code === undefined)
      throw new StoreError("RECORD_MISSING", `code ${toHex(codeHash)} is not in the store`);
    return code;
  }
}

const NO_BYTES = new Uint8Array(0);

/** What a block has written, against the state below the EVM. */
export function listDifferences(evm: Evm): AccountDifferences {
  const differences = new AccountDifferences();
  for (const {address, before, after, isReset, slots} of readWritten(evm)) {
    const isNew = isReset || before === undefined;
    const changed: WrittenSlot[] = [];
    for (const {slot, before: valueBefore, after: value} of slots)
      if (isNew ? value.some(byte => byte !== 0) : !sameBytes(valueBefore, value))
        changed.push([slot, value]);
    const readCode = (): Uint8Array => evm.readCode(address);
    const difference = differAccount(address, {before, after, isReset, slots: changed, readCode});
    if (difference !== undefined) differences.add(difference);
  }
  return differences;
}
