/**
 * The state that a block executes on: the block's writes so far, over the trie of its parent.
 *
 *   written    accounts, slots, dropped storage; with an undo log for reverts      this block, StateOverlay
 *   parent     accounts and slots as of the parent, read once                      a bounded cache
 *   trie       Merkle-Patricia, keys hashed                                        TrieNodes
 *
 * @ethereumjs' MerkleStateManager does not fit. A difference needs the written keys with their values before and after,
 * its caches lose what a reverted clearStorage dropped, and it writes every intermediate node to disk.
 * The trie is touched once per block here (before byzantium once per transaction, for the receipt).
 */
import type {StateManagerInterface} from "@ethereumjs/common";
import {RLP} from "@ethereumjs/rlp";
import {Account, KECCAK256_RLP} from "@ethereumjs/util";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {toHex} from "../../storage/hex.ts";
import {differAccount, type WrittenAccount, type WrittenSlot} from "./accountDifference.ts";
import {BaseState, type SealedAccount} from "./baseState.ts";
import {type ByteKey, fromKey, sameBytes, toKey} from "./byteKey.ts";
import {ExecutionError} from "./errors.ts";
import {NO_BYTES, StateOverlay} from "./stateOverlay.ts";
import {codeKey, type TrieNodes, TrieOverlay} from "./trieNodes.ts";
import {pathOf} from "./trieShape.ts";
import {type TrieWrite, updateTrie} from "./trieUpdate.ts";

interface ComputedRoot {
  /** The overlay's `changes` when the root was computed. */
  readonly changes: number;
  readonly root: Uint8Array;
  /** The storage root of every written account that exists. */
  readonly storageRoots: ReadonlyMap<ByteKey, Uint8Array>;
}

const NO_SLOTS: ReadonlyMap<ByteKey, Uint8Array> = new Map();

export class ExecutionState extends StateOverlay implements StateManagerInterface {
  private readonly overlay: TrieOverlay;
  private readonly parent: BaseState;

  /** The root with everything written. It is valid until `changes` rises. */
  private computed: ComputedRoot | undefined;

  constructor(private readonly nodes: TrieNodes) {
    const overlay = new TrieOverlay(nodes);
    const parent = new BaseState(nodes, overlay);
    super(parent);
    this.overlay = overlay;
    this.parent = parent;
  }

  async getStateRoot(): Promise<Uint8Array> {
    return (await this.compute()).root;
  }

  /** Drops everything written and moves to the state of another block. */
  async setStateRoot(root: Uint8Array): Promise<void> {
    if (!(await this.hasStateRoot(root)))
      throw new ExecutionError(
        "STATE_MISSING",
        `the state with the trie root ${toHex(root)} is not in this store`,
      );
    this.discard();
    this.parent.moveTo(root);
  }

  async hasStateRoot(root: Uint8Array): Promise<boolean> {
    return sameBytes(root, KECCAK256_RLP) || this.nodes.get(Buffer.from(root).toString("hex")) !== undefined;
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
    this.overlay.clear();
  }

  async listDifferences(): Promise<AccountDifferences> {
    const differences = new AccountDifferences();
    for (const key of this.writtenKeys()) {
      const written = await this.describeWritten(key);
      const difference = differAccount(fromKey(key), written);
      if (difference !== undefined) differences.add(difference);
    }
    return differences;
  }

  /** Persists what was written and makes it the base of the next block. */
  async seal(): Promise<void> {
    if (this.isInCheckpoint) throw new Error("a block was sealed inside a checkpoint");
    const {root, storageRoots} = await this.compute();
    const sealed: SealedAccount[] = [];
    for (const key of this.writtenKeys()) {
      const after = await this.readAccount(key);
      const code = after && this.newCodes.get(toKey(after.codeHash));
      if (after !== undefined && code !== undefined && code.length > 0)
        this.nodes.put(codeKey(after.codeHash), code);
      sealed.push({
        key,
        account: after && withStorageRoot(after, storageRoots.get(key) ?? KECCAK256_RLP),
        isCleared: this.cleared.has(key),
        slots: this.slots.get(key) ?? NO_SLOTS,
      });
    }
    this.overlay.persist();
    this.parent.advance(root, sealed);
    this.discard();
  }

  private writtenKeys(): Set<ByteKey> {
    return new Set([...this.accounts.keys(), ...this.slots.keys(), ...this.cleared]);
  }

  private async describeWritten(key: ByteKey): Promise<WrittenAccount> {
    const before = this.parent.readAccount(key);
    const after = await this.readAccount(key);
    const hadSlots = before !== undefined && !sameBytes(before.storageRoot, KECCAK256_RLP);
    const isReset = this.destroyed.has(key) || (this.cleared.has(key) && hadSlots);
    const slots: WrittenSlot[] = [];
    for (const [slotKey, value] of this.slots.get(key) ?? []) {
      const slot = fromKey(slotKey);
      const valueBefore = isReset || before === undefined ? NO_BYTES : this.parent.readSlot(key, slot);
      if (!sameBytes(value, valueBefore)) slots.push([slot, value]);
    }
    const readCode = (): Uint8Array => (after === undefined ? NO_BYTES : this.readCode(after.codeHash));
    return {before, after, isReset, slots, readCode};
  }

  private async compute(): Promise<ComputedRoot> {
    if (this.computed?.changes !== this.changes) this.computed = await this.computeRoot();
    return this.computed;
  }

  private async computeRoot(): Promise<ComputedRoot> {
    this.overlay.clear();
    const writes: TrieWrite[] = [];
    const storageRoots = new Map<ByteKey, Uint8Array>();
    for (const key of this.writtenKeys()) {
      const after = await this.readAccount(key);
      if (after === undefined) {
        writes.push({path: pathOf(fromKey(key)), value: undefined});
        continue;
      }
      const storageRoot = this.computeStorageRoot(key);
      storageRoots.set(key, storageRoot);
      writes.push({path: pathOf(fromKey(key)), value: withStorageRoot(after, storageRoot).serialize()});
    }
    return {changes: this.changes, root: updateTrie(this.overlay, this.parent.root, writes), storageRoots};
  }

  private computeStorageRoot(key: ByteKey): Uint8Array {
    const base = this.cleared.has(key) ? undefined : this.parent.readAccount(key);
    const root = base?.storageRoot ?? KECCAK256_RLP;
    const slots = this.slots.get(key);
    if (slots === undefined || slots.size === 0) return root;
    const writes = [...slots].map(([slot, value]) => ({
      path: pathOf(fromKey(slot)),
      value: value.length > 0 ? RLP.encode(value) : undefined,
    }));
    return updateTrie(this.overlay, root, writes);
  }
}

function withStorageRoot({nonce, balance, codeHash}: Account, storageRoot: Uint8Array): Account {
  return new Account(nonce, balance, storageRoot, codeHash);
}
