/** Checks a block's changes in a store without sparse trees: what stateWriter.ts does where it applies them. */
import type {AccountDifference, SlotDifference} from "../block/accountDifference.ts";
import type {BlockDifference} from "../block/blockDifference.ts";
import {StoreError} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {toHex} from "../hex.ts";
import {EMPTY_TRIE, TrieReader, type TrieRoot} from "../trie/trie.ts";
import {decodeSlot, readTrieAccount} from "../trie/trieAccount.ts";
import type {TriePages} from "../trie/trieStore.ts";
import {checkAccountBefore, checkSlotBefore} from "./beforeCheck.ts";

const NO_BYTES = new Uint8Array(0);

export class TrieChanges {
  accounts = 0;
  private readonly tries: TrieReader;

  constructor(pages: TriePages) {
    this.tries = new TrieReader(pages);
  }

  /** @throws StoreError BLOCK_INVALID for an account or slot that comes twice, BEFORE_MISMATCH, those of reading */
  check({header, accounts}: BlockDifference, trie: TrieRoot = EMPTY_TRIE): void {
    const seen = new Set<string>();
    for (let position = 0; position < accounts.count; position++) {
      const difference = accounts.at(position);
      const where = (): string => `block ${header.number}: account ${toHex(difference.address)}`;
      requireNew(seen, difference.address, where);
      if (difference.onlyRead !== true) this.accounts++;
      this.checkAccount(difference, trie, where);
    }
  }

  private checkAccount(
    {address, change, before}: AccountDifference,
    trie: TrieRoot,
    where: () => string,
  ): void {
    const {storage: slots = [], reset} = change ?? {};
    const seen = new Set<string>();
    for (const {slot} of slots) requireNew(seen, slot, () => `${where()}: slot ${toHex(slot)}`);
    if (before === undefined && slots.every(slot => slot.before === undefined)) return;
    const value = this.tries.find(trie.page, keccak256(address), "accounts");
    const current = value && readTrieAccount(value);
    if (before !== undefined) {
      const code = current && {keccakCodeHash: current.codeHash};
      checkAccountBefore(before, current && {...current, code}, where);
    }
    this.checkSlots(slots, reset === true ? EMPTY_TRIE : (current?.storage ?? EMPTY_TRIE), where);
  }

  private checkSlots(slots: readonly SlotDifference[], {page}: TrieRoot, where: () => string): void {
    for (const {slot, before} of slots) {
      if (before === undefined) continue;
      const value = this.tries.find(page, keccak256(slot), "slots");
      checkSlotBefore(slot, before, value === undefined ? NO_BYTES : decodeSlot(value), where);
    }
  }
}

function requireNew(seen: Set<string>, key: Uint8Array, where: () => string): void {
  const {size} = seen;
  if (seen.add(Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1")).size === size)
    throw new StoreError("BLOCK_INVALID", `${where()} twice`);
}
