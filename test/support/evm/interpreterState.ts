/** A state in plain maps, as the interpreter reads it and changes it. */
import type {Evm} from "../../../evm/interpreter/evm.ts";
import type {SourceAccount, StateSource} from "../../../evm/interpreter/stateSource.ts";
import {readWritten} from "../../../evm/interpreter/written.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "../chains/memoryState.ts";

export class InterpreterState implements StateSource {
  private readonly codes = new Map<string, Uint8Array>();

  /** @param before - is not changed */
  constructor(
    private readonly before: MemoryState,
    readonly readBlockHash: (number: number) => Uint8Array,
  ) {}

  readAccount(address: Uint8Array): SourceAccount | undefined {
    const account = this.before.accounts.get(toHex(address));
    if (account === undefined) return undefined;
    const codeHash = keccak256(account.code);
    this.codes.set(toHex(codeHash), account.code);
    return {nonce: account.nonce, balance: account.balance, codeHash, hasStorage: account.slots.size > 0};
  }

  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const value = this.before.accounts.get(toHex(address))?.slots.get(toHex(slot)) ?? "0x";
    return new Uint8Array(Buffer.from(value.slice(2), "hex"));
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    return this.codes.get(toHex(codeHash)) ?? new Uint8Array(0);
  }

  /** What the state is after what `evm` changed since it moved here. */
  after(evm: Evm): MemoryState {
    const state = new MemoryState();
    for (const [name, account] of this.before.accounts) state.accounts.set(name, account);
    for (const {address, after, isReset, slots} of readWritten(evm)) {
      const name = toHex(address);
      const held = state.accounts.get(name);
      state.accounts.delete(name);
      if (after === undefined) continue;
      const account: MemoryAccount = {
        nonce: after.nonce,
        balance: after.balance,
        code: new Uint8Array(evm.readCode(address)),
        slots: new Map(isReset ? [] : held?.slots),
      };
      for (const {slot, after: value} of slots)
        if (value.every(byte => byte === 0)) account.slots.delete(toHex(slot));
        else account.slots.set(toHex(slot), `0x${Buffer.from(value).toString("hex").padStart(64, "0")}`);
      state.accounts.set(name, account);
    }
    return state;
  }
}
