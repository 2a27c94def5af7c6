/** The state trie of one block, and the pages and root that the changes of the next one give. */
import type {AccountDifference} from "../block/accountDifference.ts";
import type {AccountDifferences} from "../block/accountDifferences.ts";
import {inHKeyOrder} from "../hash/hKeyOrder.ts";
import {KECCAK_EMPTY, keccak256} from "../hash/keccak.ts";
import {EMPTY_TRIE, type TrieRoot, type TrieWrite, TrieWriter} from "../trie/trie.ts";
import {encodeSlot, encodeTrieAccount, readTrieAccount} from "../trie/trieAccount.ts";
import {TrieState} from "../trie/trieState.ts";
import type {TrieStore} from "../trie/trieStore.ts";

/** A larger block has pages written before its root is known, to bound the memory for a block 0 of millions. */
const ACCOUNTS_AT_ONCE = 4096;

const NOTHING = (): void => {};

export class StateTrie extends TrieState {
  private changed: TrieRoot;
  private undo = NOTHING;

  /** @param base - the trie that is read. @throws StoreError, as all that reads pages */
  constructor(
    private readonly store: TrieStore,
    base: TrieRoot = EMPTY_TRIE,
    private readonly writer: TrieWriter = new TrieWriter(store),
  ) {
    super(writer, base);
    this.changed = base;
  }

  /** After the last `change`; without one, the base. */
  get newest(): TrieRoot {
    return this.changed;
  }

  /** Replaces the changes of an earlier call since the last `seal`. @returns the root */
  change(accounts: AccountDifferences): Uint8Array {
    return this.write(byPath(accounts));
  }

  seal(): void {
    this.undo = NOTHING;
    this.base = this.changed;
  }

  drop(): void {
    this.undo();
    this.undo = NOTHING;
    this.changed = this.base;
  }

  /**
   * Changes and seals the trie. If `check` throws, the caller has to drop the pages that were put. A block that changes
   * thousands of accounts may have written some already.
   *
   * @param check - called with the root after the block. @param signal - ends the writing of a large allocation
   * @returns the trie after the block. After an error this object must not be used any more
   */
  async apply(
    accounts: AccountDifferences,
    check?: (root: Uint8Array) => void,
    signal?: AbortSignal,
  ): Promise<TrieRoot> {
    let some: PathedDifference[] = [];
    for (const pathed of byPath(accounts)) {
      if (some.length === ACCOUNTS_AT_ONCE) {
        this.write(some);
        some = [];
        this.seal();
        signal?.throwIfAborted();
        await this.store.flushIfFull?.();
      }
      some.push(pathed);
    }
    const root = this.write(some);
    check?.(root);
    this.seal();
    return this.base;
  }

  private write(accounts: Iterable<PathedDifference>): Uint8Array {
    this.drop();
    this.undo = this.store.begin();
    const writes: TrieWrite[] = [];
    for (const {path, difference} of accounts)
      if (difference.onlyRead !== true) writes.push(this.writeOf(path, difference));
    this.changed = this.writer.update(this.base, writes, "accounts");
    return this.changed.root;
  }

  private writeOf(path: Uint8Array, {change}: AccountDifference): TrieWrite {
    if (change === undefined) return {path, value: undefined};
    const {storage = []} = change;
    const slots = storage.map(({slot, value}) => ({path: keccak256(slot), value: encodeSlot(value)}));
    const make = (found: Uint8Array | undefined): Uint8Array => {
      const current = found && readTrieAccount(found);
      const before = change.reset === true ? undefined : current;
      const codeBefore = change.keepsCode === true ? current : before;
      return encodeTrieAccount({
        nonce: change.nonce ?? before?.nonce ?? 0n,
        balance: change.balance ?? before?.balance ?? 0n,
        storage: this.writer.update(before?.storage ?? EMPTY_TRIE, slots, "slots"),
        codeHash:
          change.code === undefined ? (codeBefore?.codeHash ?? KECCAK_EMPTY) : this.putCode(change.code),
      });
    };
    // If no slots change, the account is looked up only once: when it is written.
    return {path, value: slots.length === 0 ? make : make(this.findStored(path))};
  }

  private putCode(code: Uint8Array): Uint8Array {
    const hash = keccak256(code);
    if (code.length > 0) this.store.putCode(hash, code);
    return hash;
  }
}

interface PathedDifference {
  /** 32 bytes. */
  readonly path: Uint8Array;
  readonly difference: AccountDifference;
}

/** Accounts with neighbouring paths share pages: sorted, each page is read once, and in a large block also put once. */
function* byPath(accounts: AccountDifferences): Generator<PathedDifference, undefined> {
  const pathAt = (position: number): Uint8Array => keccak256(accounts.addressAt(position));
  for (const {position, hKey: path} of inHKeyOrder(accounts.count, pathAt))
    yield {path, difference: accounts.at(position)};
}
