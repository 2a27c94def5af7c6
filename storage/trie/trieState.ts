/** The accounts and slots of one state trie. */
import {keccak256} from "../hash/keccak.ts";
import type {TrieReader, TrieRoot} from "./trie.ts";
import {decodeSlot, decodeTrieAccount, type TrieAccount} from "./trieAccount.ts";

const NO_BYTES = new Uint8Array(0);

export class TrieState {
  /** @param base - the trie that is read */
  constructor(
    private readonly reader: TrieReader,
    protected base: TrieRoot,
  ) {}

  /** @returns undefined if there is no such account. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  readAccount(address: Uint8Array): TrieAccount | undefined {
    const bytes = this.findStored(keccak256(address));
    return bytes && decodeTrieAccount(bytes);
  }

  /** @param storage - of the account. @returns the value without leading zeros. @throws as readAccount */
  readSlot(storage: TrieRoot, slot: Uint8Array): Uint8Array {
    const bytes = this.findSlot(storage, keccak256(slot));
    return bytes === undefined ? NO_BYTES : decodeSlot(bytes);
  }

  /** @returns a view until the next call */
  protected findStored(path: Uint8Array): Uint8Array | undefined {
    return this.reader.find(this.base.page, path, "accounts");
  }

  /** @returns as findStored */
  protected findSlot({page, root}: TrieRoot, path: Uint8Array): Uint8Array | undefined {
    return this.reader.find(page, path, "slots", root);
  }
}
