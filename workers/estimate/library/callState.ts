/**
 * The state that one call is simulated on: the block's state, the caller's overrides over it, and a run's writes over both.
 */
import type {StateManagerInterface} from "@ethereumjs/common";
import {Account, Address} from "@ethereumjs/util";
import {StateOverlay} from "../../execution/stateOverlay.ts";
import type {AccountOverride} from "../../job/estimateCall.ts";
import {splitWords} from "../call/words.ts";
import type {HeldState} from "./heldState.ts";

export class CallState extends StateOverlay implements StateManagerInterface {
  constructor(private held: HeldState) {
    super({
      readAccount: key => this.held.readAccount(key),
      readSlot: (key, slot) => this.held.readSlot(key, slot),
      readCode: codeHash => this.held.readCode(codeHash),
    });
  }

  /** Begins another call: drops everything written. */
  moveTo(held: HeldState): void {
    this.discard();
    this.held = held;
  }

  async override(overrides: readonly AccountOverride[]): Promise<void> {
    for (const {address: bytes, balance, nonce, code, slots, replacesStorage} of overrides) {
      const address = new Address(bytes);
      const account = (await this.getAccount(address)) ?? new Account();
      account.balance = balance ?? account.balance;
      account.nonce = nonce ?? account.nonce;
      await this.putAccount(address, account);
      if (code !== undefined) await this.putCode(address, code);
      if (replacesStorage === true) await this.clearStorage(address);
      if (slots === undefined) continue;
      const words = splitWords(slots);
      for (let at = 0; at < words.length; at += 2)
        await this.putStorage(address, words[at] as Uint8Array, words[at + 1] as Uint8Array);
    }
  }

  /** Runs `work` and reverts its writes. If `work` throws, the writes stay until `moveTo` clears them. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    await this.checkpoint();
    const result = await work();
    await this.revert();
    this.originalStorageCache.clear();
    return result;
  }

  clearCaches(): void {
    this.originalStorageCache.clear();
  }

  /** A simulation has no trie. The EVM never calls these methods. */
  getStateRoot(): Promise<Uint8Array> {
    throw new Error("a simulated state has no root");
  }

  setStateRoot(): Promise<void> {
    throw new Error("a simulated state has no root");
  }

  hasStateRoot(): Promise<boolean> {
    throw new Error("a simulated state has no root");
  }

  shallowCopy(): StateManagerInterface {
    throw new Error("a simulated state cannot be copied");
  }
}
