/** A state in plain maps, as the library's EVM reads and writes it. */
import assert from "node:assert/strict";
import {toHex} from "../../../storage/hex.ts";
import {MemoryState} from "../chains/memoryState.ts";
import {InterpreterState} from "./interpreterState.ts";
import {fromKey, StateOverlay} from "./stateOverlay.ts";

export class LibraryState extends StateOverlay {
  /** @param before - is not changed */
  constructor(private readonly before: MemoryState) {
    super(new InterpreterState(before, () => assert.fail("the library asks its blockchain")));
  }

  /** What the state is after what was written. */
  async after(): Promise<MemoryState> {
    const after = new MemoryState();
    for (const [name, account] of this.before.accounts) after.accounts.set(name, account);
    for (const key of new Set([...this.accounts.keys(), ...this.slots.keys(), ...this.cleared])) {
      const name = toHex(fromKey(key));
      const account = this.readAccount(key);
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
