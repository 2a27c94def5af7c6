/** A state in plain maps, as the library's EVM reads and writes it. */
import {Account} from "@ethereumjs/util";
import {type ByteKey, fromKey, toKey} from "../../../evm/execution/byteKey.ts";
import {NO_BYTES, type StateBase, StateOverlay} from "../../../evm/execution/stateOverlay.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "../chains/memoryState.ts";

/** Stands for any storage that is not empty. */
const SOME_ROOT = new Uint8Array(32).fill(1);

export class LibraryState extends StateOverlay {
  /** @param before - is not changed */
  constructor(private readonly before: MemoryState) {
    super(new MapBase(before));
  }

  /** What the state is after what was written. */
  async after(): Promise<MemoryState> {
    const after = new MemoryState();
    for (const [name, account] of this.before.accounts) after.accounts.set(name, account);
    for (const key of new Set([...this.accounts.keys(), ...this.slots.keys(), ...this.cleared])) {
      const name = toHex(fromKey(key));
      const account = await this.readAccount(key);
      after.accounts.delete(name);
      if (account === undefined) continue;
      const slots = new Map(this.cleared.has(key) ? [] : this.before.accounts.get(name)?.slots);
      for (const [slot, value] of this.slots.get(key) ?? [])
        if (value.length === 0) slots.delete(toHex(fromKey(slot)));
        else slots.set(toHex(fromKey(slot)), `0x${Buffer.from(value).toString("hex").padStart(64, "0")}`);
      const {nonce, balance, codeHash} = account;
      after.accounts.set(name, {nonce, balance, code: this.readCode(codeHash), slots});
    }
    return after;
  }
}

class MapBase implements StateBase {
  private readonly codes = new Map<ByteKey, Uint8Array>();

  constructor(private readonly state: MemoryState) {}

  readAccount(key: ByteKey): Account | undefined {
    const account = this.find(key);
    if (account === undefined) return undefined;
    const codeHash = keccak256(account.code);
    this.codes.set(toKey(codeHash), account.code);
    return new Account(
      account.nonce,
      account.balance,
      account.slots.size > 0 ? SOME_ROOT : undefined,
      codeHash,
    );
  }

  readSlot(key: ByteKey, slot: Uint8Array): Uint8Array {
    const value = this.find(key)?.slots.get(toHex(slot));
    return value === undefined ? NO_BYTES : Buffer.from(value.slice(2).replace(/^(00)+/, ""), "hex");
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    return this.codes.get(toKey(codeHash)) ?? NO_BYTES;
  }

  private find(key: ByteKey): MemoryAccount | undefined {
    return this.state.accounts.get(toHex(fromKey(key)));
  }
}
