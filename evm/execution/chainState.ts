/** The state of a block as the EVM reads it from the trie, and the changes of the next block. */
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {StoreError} from "../../storage/errors.ts";
import {isSame, toHex} from "../../storage/hex.ts";
import type {TrieRoot} from "../../storage/trie/trie.ts";
import type {TrieState} from "../../storage/trie/trieState.ts";
import type {TrieStore} from "../../storage/trie/trieStore.ts";
import type {Evm} from "../interpreter/evm.ts";
import type {SourceAccount, StateSource} from "../interpreter/stateSource.ts";
import {readWritten} from "../interpreter/written.ts";
import {type ByteKey, toKey} from "./byteKey.ts";

/** Cached storage roots: about 15 MB. */
const MAX_STORAGES = 100_000;

export class ChainState implements StateSource {
  /** Storage roots of accounts that were read since `clearCache`. */
  private readonly storages = new Map<ByteKey, TrieRoot>();

  constructor(
    private readonly store: Pick<TrieStore, "findCode">,
    private readonly trie: TrieState,
    readonly readBlockHash: (number: number) => Uint8Array,
  ) {}

  /** Call it when the trie has changed. */
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

/** Net changes of a block, compared with the state below the EVM. */
export function listDifferences(evm: Evm): AccountDifferences {
  const differences = new AccountDifferences();
  for (const {address, before, after, isReset, slots} of readWritten(evm)) {
    if (after === undefined) {
      if (before !== undefined) differences.add({address, change: undefined});
      continue;
    }
    const {nonce, balance, codeHash} = after;
    const kept = isReset ? undefined : before;
    const storage = slots
      .filter(slot => (kept ? !isSame(slot.before, slot.after) : slot.after.some(byte => byte !== 0)))
      .map(({slot, after: value}) => ({slot, value}));
    const change = {
      nonce: kept?.nonce === nonce ? undefined : nonce,
      balance: kept?.balance === balance ? undefined : balance,
      code: kept && isSame(kept.codeHash, codeHash) ? undefined : evm.readCode(address),
      storage,
    };
    if (kept === undefined) differences.add({address, change: {...change, reset: before !== undefined}});
    else if (storage.length > 0 || [change.nonce, change.balance, change.code].some(one => one !== undefined))
      differences.add({address, change});
  }
  return differences;
}
