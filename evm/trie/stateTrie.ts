/**
 * The state trie: the accounts and slots of one block, and the root that the changes of the next one give.
 */
import type {AccountDifference} from "../../storage/block/accountDifference.ts";
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {ExecutionError} from "../execution/executionError.ts";
import {decodeAccount, decodeSlot, encodeAccount, encodeSlot, type TrieAccount} from "./trieAccount.ts";
import {TrieMemory, type TrieWrite} from "./trieMemory.ts";
import {codeKey, EMPTY_ROOT, type TrieNodes} from "./trieNodes.ts";

/** Of a larger block, nodes are put before its root is known. Bounds the memory for a block 0 of millions of accounts. */
const ACCOUNTS_AT_ONCE = 4096;

const NO_BYTES = new Uint8Array(0);
const NO_CODE = keccak256(NO_BYTES);

export class StateTrie {
  private readonly memory: TrieMemory;
  /** Those of the changes that are not sealed, by their hashes. */
  private readonly newCodes = new Map<string, Uint8Array>();
  private changedRoot: Uint8Array;

  private constructor(
    private readonly nodes: TrieNodes,
    private base: Uint8Array,
  ) {
    this.memory = new TrieMemory(nodes);
    this.changedRoot = base;
  }

  /** @param root - default: the empty trie's. @throws ExecutionError STATE_MISSING if `nodes` does not have the trie */
  static open(nodes: TrieNodes, root: Uint8Array = EMPTY_ROOT): StateTrie {
    const trie = new StateTrie(nodes, EMPTY_ROOT);
    trie.moveTo(root);
    return trie;
  }

  /** That of the last `change`; without one, of the trie that is read. */
  get newRoot(): Uint8Array {
    return this.changedRoot;
  }

  /** @throws ExecutionError STATE_MISSING */
  moveTo(root: Uint8Array): void {
    if (!this.hasRoot(root))
      throw new ExecutionError(
        "STATE_MISSING",
        `the state with the trie root ${toHex(root)} is not in this store`,
      );
    this.drop();
    this.base = new Uint8Array(root);
    this.changedRoot = this.base;
  }

  hasRoot(root: Uint8Array): boolean {
    return (
      Buffer.compare(root, EMPTY_ROOT) === 0 ||
      this.nodes.get(Buffer.from(root).toString("hex")) !== undefined
    );
  }

  /** @param address - 20 bytes. @returns undefined if there is no such account. @throws ExecutionError STATE_MISSING, StoreError */
  readAccount(address: Uint8Array): TrieAccount | undefined {
    const bytes = this.memory.find(this.base, keccak256(address));
    return bytes && decodeAccount(bytes);
  }

  /** @param storageRoot - of the account. @param slot - 32 bytes. @returns the value without leading zeros */
  readSlot(storageRoot: Uint8Array, slot: Uint8Array): Uint8Array {
    const bytes = this.memory.find(storageRoot, keccak256(slot));
    return bytes === undefined ? NO_BYTES : decodeSlot(bytes);
  }

  /**
   * Makes the trie with these changes, and no others made since the last `seal`.
   *
   * @returns its root
   */
  change(accounts: AccountDifferences, from = 0, to: number = accounts.count): Uint8Array {
    this.drop();
    const writes: TrieWrite[] = [];
    for (let position = from; position < to; position++) {
      const difference = accounts.at(position);
      if (difference.onlyRead !== true) writes.push(this.writeOf(difference));
    }
    this.changedRoot = this.memory.update(this.base, writes);
    return this.changedRoot;
  }

  /** Puts what the last `change` made, and goes on from there. */
  seal(): void {
    this.memory.persist();
    for (const [name, code] of this.newCodes) this.nodes.set(name, code);
    this.newCodes.clear();
    this.base = this.changedRoot;
  }

  /** Forgets the last `change`. */
  drop(): void {
    this.memory.drop();
    this.newCodes.clear();
    this.changedRoot = this.base;
  }

  /**
   * Changes the trie for good. Nothing of a block is put if `check` throws, but for those of many thousands of accounts.
   *
   * @param check - takes the root after the block
   * @returns that root. After an error the trie must not be used any more
   */
  async apply(accounts: AccountDifferences, check?: (root: Uint8Array) => void): Promise<Uint8Array> {
    let from = 0;
    for (; accounts.count - from > ACCOUNTS_AT_ONCE; from += ACCOUNTS_AT_ONCE) {
      this.change(accounts, from, from + ACCOUNTS_AT_ONCE);
      this.seal();
      await this.nodes.settle?.();
    }
    const root = this.change(accounts, from);
    check?.(root);
    this.seal();
    return root;
  }

  private writeOf({address, change}: AccountDifference): TrieWrite {
    const path = keccak256(address);
    if (change === undefined) return {path, value: undefined};
    const bytes = this.memory.find(this.base, path);
    const held = bytes && decodeAccount(bytes);
    const before = change.reset === true ? undefined : held;
    const codeBefore = change.keepsCode === true ? held : before;
    const account = {
      nonce: change.nonce ?? before?.nonce ?? 0n,
      balance: change.balance ?? before?.balance ?? 0n,
      storageRoot: before?.storageRoot ?? EMPTY_ROOT,
      codeHash: change.code === undefined ? (codeBefore?.codeHash ?? NO_CODE) : this.keepCode(change.code),
    };
    const {storage = []} = change;
    const slots = storage.map(({slot, value}) => ({path: keccak256(slot), value: encodeSlot(value)}));
    account.storageRoot = this.memory.update(account.storageRoot, slots);
    return {path, value: new Uint8Array(encodeAccount(account))};
  }

  private keepCode(code: Uint8Array): Uint8Array {
    const hash = keccak256(code);
    if (code.length > 0) this.newCodes.set(codeKey(hash), code);
    return hash;
  }
}
