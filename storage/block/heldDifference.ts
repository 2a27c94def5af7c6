/**
 * What a held block changed, read from the trees before and after it. It is what the block's source said, without what made no
 * difference, so two stores of the same chain give the same.
 *
 *   account tree    before    a ── b ── c           a leaf that is in both: its fields, and its slots that differ
 *                   after     a'── b      ── d      only before: deleted; only after: new; both for one address: made again
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {isSame, toHex} from "../hex.ts";
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import type {Leaf} from "../page/leafPage.ts";
import {type Account, decodeStoredAccount} from "../tree/account.ts";
import {changedLeaves} from "../tree/changedLeaves.ts";
import {FIRST_FREE_NODE, ZERO_WORD} from "../tree/emptyTree.ts";
import {ACCOUNTS_OWNER, type LeafKeys, missingKey} from "../tree/leafKeys.ts";
import {writeWordInto} from "../tree/shortNumber.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import type {AccountChange, SlotDifference} from "./accountDifference.ts";
import {AccountDifferences} from "./accountDifferences.ts";
import type {BlockDifference} from "./blockDifference.ts";
import type {BlockRecord} from "./blockRecord.ts";
import type {StateReader} from "./stateReader.ts";

const NO_BYTES = new Uint8Array(0);

/**
 * The changes of a block whose state and whose parent's state are held. Of block 0 these are all accounts.
 *
 * @throws StoreError BLOCK_UNKNOWN, BLOCK_PRUNED, and those of reading
 */
export function readHeldDifference(reader: StateReader, block: number): BlockDifference {
  const record = reader.blockOrThrow(block);
  const before = block === 0 ? undefined : reader.blockOrThrow(block - 1);
  const {header, stateRoot} = record;
  const accounts = new HeldDifference(reader, before, record).read();
  const chain = block === 0 ? reader.readChain() : undefined;
  return {header, expectedStateRoot: stateRoot, accounts, chain};
}

class HeldDifference {
  private readonly accounts = new AccountDifferences();
  private keys: LeafKeys = [];
  private keysOf = {owner: -1, page: -1};

  constructor(
    private readonly reader: StateReader,
    private readonly before: BlockRecord | undefined,
    private readonly after: BlockRecord,
  ) {}

  read(): AccountDifferences {
    // An account that was deleted and made again has two leaves, the new one after the old one.
    const removed = new Map<string, Uint8Array>();
    for (const {leafIndex, before, after} of this.changed(this.before?.accounts, this.after.accounts)) {
      const address = this.keyOf(ACCOUNTS_OWNER, leafIndex);
      if (after === undefined) removed.set(toHex(address), Uint8Array.from(address));
      else {
        const isReset = before === undefined && removed.delete(toHex(address));
        this.accounts.add({address, change: this.describe(leafIndex, before, after, isReset)});
      }
    }
    for (const address of removed.values()) this.accounts.add({address, change: undefined});
    return this.accounts;
  }

  private describe(
    leafIndex: number,
    before: Leaf | undefined,
    after: Leaf,
    isReset: boolean,
  ): AccountChange {
    const old = before && decodeStoredAccount(before.value);
    const young = decodeStoredAccount(after.value);
    return {
      reset: isReset,
      nonce: isSame(old?.nonce, young.nonce) ? undefined : toNumber(young.nonce),
      balance: isSame(old?.balance, young.balance) ? undefined : toNumber(young.balance),
      code: this.describeCode(old, young),
      storage: this.readSlots(leafIndex, old?.storage?.tree, young.storage?.tree),
    };
  }

  /** @returns undefined if the code is the same; no bytes if it is gone */
  private describeCode(old: Account | undefined, young: Account): Uint8Array | undefined {
    const [one, other] = [old?.code?.keccakCodeHash, young.code?.keccakCodeHash];
    if (other === undefined) return one === undefined ? undefined : NO_BYTES;
    return isSame(one, other) ? undefined : this.reader.readCode(other);
  }

  private readSlots(
    owner: number,
    before: TreeRoot | undefined,
    after: TreeRoot | undefined,
  ): readonly SlotDifference[] {
    const slots = new Map<string, SlotDifference>();
    const removed = new Set<string>();
    for (const {leafIndex, before: old, after: young} of this.changed(before, after)) {
      const slot = toWord(this.keyOf(owner, leafIndex));
      const name = toHex(slot);
      // A slot that was deleted and written again has two leaves, the new one after the old one.
      if (young === undefined) {
        removed.add(name);
        slots.set(name, {slot, value: ZERO_WORD});
      } else {
        const isAgain = old === undefined && removed.has(name);
        slots.set(name, {slot, value: toWord(young.value), reset: isAgain});
      }
    }
    return [...slots.values()];
  }

  /** Leaves with a key whose value differs. */
  private *changed(before: TreeRoot | undefined, after: TreeRoot | undefined) {
    for (const leaf of changedLeaves(this.reader.pages, before, after)) {
      if (leaf.leafIndex < FIRST_FREE_NODE) continue;
      // Only its links: a neighbour came or went.
      if (leaf.before !== undefined && leaf.after !== undefined && isSame(leaf.before.hVal, leaf.after.hVal))
        continue;
      yield leaf;
    }
  }

  private keyOf(owner: number, leafIndex: number): Uint8Array {
    const page = Math.floor(leafIndex / LEAVES_PER_PAGE);
    if (this.keysOf.owner !== owner || this.keysOf.page !== page) {
      this.keys = this.reader.readLeafKeys(owner, page);
      this.keysOf = {owner, page};
    }
    const key = this.keys[leafIndex % LEAVES_PER_PAGE];
    if (key === undefined) throw missingKey(owner, leafIndex);
    return key;
  }
}

/** @param bytes - without leading zeros */
function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes));
}

function toWord(bytes: Uint8Array): Uint8Array {
  const word = new Uint8Array(WORD_BYTES);
  writeWordInto(word, 0, bytes);
  return word;
}
