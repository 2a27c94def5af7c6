/**
 * The state that the tests' blocks of @ethereumjs execute on, which shares nothing with our own EVM: the block's writes so far, over the trie of its parent.
 *
 *   written    accounts, slots, dropped storage; with an undo log for reverts      this block, StateOverlay
 *   parent     accounts and slots as of the parent                                 ChainState
 *   trie       Merkle-Patricia, keys hashed                                        StateTrie
 *
 * @ethereumjs' MerkleStateManager does not fit. A difference needs the written keys with their values before and after,
 * its caches lose what a reverted clearStorage dropped, and it writes every intermediate node to disk.
 * The trie is touched once per block here (before byzantium once per transaction, for the receipt).
 */
import type {StateManagerInterface} from "@ethereumjs/common";
import {KECCAK256_RLP} from "@ethereumjs/util";
import {ChainState} from "../../../evm/execution/chainState.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {StateTrie} from "../../../storage/commit/stateTrie.ts";
import type {TrieStore} from "../../../storage/trie/trieStore.ts";
import {differAccount, type WrittenAccount, type WrittenSlot} from "./accountDifference.ts";
import {fromKey, NO_BYTES, StateOverlay, sameBytes} from "./stateOverlay.ts";

export class ExecutionState extends StateOverlay implements StateManagerInterface {
  private readonly parent: ChainState;
  /** The overlay's `changes` when the trie was changed last. */
  private computedAt: number | undefined;

  constructor(
    store: TrieStore,
    private readonly trie: StateTrie = new StateTrie(store),
  ) {
    const parent = new ChainState(store, trie, () => {
      throw new Error("the library asks its blockchain for hashes of blocks");
    });
    super(parent);
    this.parent = parent;
  }

  async getStateRoot(): Promise<Uint8Array> {
    if (this.computedAt !== this.changes) this.trie.change(await this.listDifferences());
    this.computedAt = this.changes;
    return this.trie.newest.root;
  }

  /** Block execution never calls it: a trie is found by its page. */
  setStateRoot(): Promise<void> {
    throw new Error("an execution state cannot be moved");
  }

  async hasStateRoot(root: Uint8Array): Promise<boolean> {
    return sameBytes(root, this.trie.newest.root);
  }

  clearCaches(): void {
    this.parent.clearCache();
  }

  /** Block execution never calls it. The overlay and the undo log have one user. */
  shallowCopy(): StateManagerInterface {
    throw new Error("an execution state cannot be copied");
  }

  /** Drops everything written since the last `seal`. */
  override discard(): void {
    super.discard();
    this.trie.drop();
  }

  async listDifferences(): Promise<AccountDifferences> {
    const differences = new AccountDifferences();
    for (const key of this.writtenKeys()) {
      const written = this.describeWritten(key);
      const difference = differAccount(fromKey(key), written);
      if (difference !== undefined) differences.add(difference);
    }
    return differences;
  }

  /** Persists what was written and makes it the base of the next block. */
  async seal(): Promise<void> {
    if (this.isInCheckpoint) throw new Error("a block was sealed inside a checkpoint");
    await this.getStateRoot();
    this.trie.seal();
    this.parent.clearCache();
    this.discard();
  }

  private writtenKeys(): Set<string> {
    return new Set([...this.accounts.keys(), ...this.slots.keys(), ...this.cleared]);
  }

  private describeWritten(key: string): WrittenAccount {
    const before = this.readBaseAccount(key);
    const after = this.readAccount(key);
    const hadSlots = before !== undefined && !sameBytes(before.storageRoot, KECCAK256_RLP);
    const isReset = this.destroyed.has(key) || (this.cleared.has(key) && hadSlots);
    const slots: WrittenSlot[] = [];
    for (const [slotKey, value] of this.slots.get(key) ?? []) {
      const slot = fromKey(slotKey);
      const valueBefore = isReset || before === undefined ? NO_BYTES : this.readBaseSlot(key, slot);
      if (!sameBytes(value, valueBefore)) slots.push([slot, value]);
    }
    const readCode = (): Uint8Array => (after === undefined ? NO_BYTES : this.readCode(after.codeHash));
    return {before, after, isReset, slots, readCode};
  }
}
