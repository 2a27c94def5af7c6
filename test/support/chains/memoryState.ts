/** A state in plain maps: the sum of block differences, and its Merkle-Patricia root. */
import {createMPT} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {Account, unpadBytes} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {toHex} from "../../../storage/hex.ts";

export interface MemoryAccount {
  nonce: bigint;
  balance: bigint;
  code: Uint8Array;
  /** Value by slot, both 0x and 64 digits. No value is zero. */
  readonly slots: Map<string, string>;
}

export class MemoryState {
  /** @param accounts - by address, 0x and 40 digits */
  constructor(readonly accounts: Map<string, MemoryAccount> = new Map()) {}

  apply({accounts}: BlockDifference): void {
    for (let position = 0; position < accounts.count; position++) {
      const {address, change} = accounts.at(position);
      const name = toHex(address);
      if (change === undefined || change.reset === true) this.accounts.delete(name);
      if (change === undefined) continue;
      const account = this.accounts.get(name) ?? {
        nonce: 0n,
        balance: 0n,
        code: new Uint8Array(0),
        slots: new Map(),
      };
      this.accounts.set(name, account);
      if (change.nonce !== undefined) account.nonce = change.nonce;
      if (change.balance !== undefined) account.balance = change.balance;
      if (change.code !== undefined) account.code = new Uint8Array(change.code);
      for (const {slot, value} of change.storage ?? [])
        if (value.some(byte => byte !== 0)) account.slots.set(toHex(slot), toHex(value));
        else account.slots.delete(toHex(slot));
    }
  }

  /** Builds the trie from nothing, so that the root depends on the differences alone. */
  async computeTrieRoot(): Promise<Uint8Array> {
    const trie = await createMPT({useKeyHashing: true});
    for (const [name, {nonce, balance, code, slots}] of this.accounts) {
      const storage = await createMPT({useKeyHashing: true});
      for (const [slot, value] of slots)
        await storage.put(fromHex(slot), RLP.encode(unpadBytes(fromHex(value))));
      await trie.put(
        fromHex(name),
        new Account(nonce, balance, storage.root(), keccak_256(code)).serialize(),
      );
    }
    return trie.root();
  }
}

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
}
