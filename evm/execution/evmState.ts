/** Lets @ethereumjs read and write the state of our EVM, so that both yield the changes of a block in the same form. */
import type {AccountFields, StateManagerInterface} from "@ethereumjs/common";
import {Account, type Address, unpadBytes} from "@ethereumjs/util";
import type {StateTrie} from "../../storage/commit/stateTrie.ts";
import type {Evm} from "../interpreter/evm.ts";
import {readAccount} from "../interpreter/written.ts";
import {listDifferences} from "./chainState.ts";

/** A placeholder for the root of storage that is not empty: @ethereumjs only compares it with the empty root. */
const SOME_ROOT = new Uint8Array(32).fill(1);

/** What block execution calls of a state. */
type LibraryState = Omit<StateManagerInterface, "setStateRoot" | "hasStateRoot" | "shallowCopy">;

export class EvmState implements LibraryState {
  /** Values of slots when they were first read since `clear` (EIP-1283). */
  readonly originalStorageCache = {
    get: async (address: Address, slot: Uint8Array): Promise<Uint8Array> => {
      const name = Buffer.concat([address.bytes, slot]).toString("latin1");
      const value = this.originals.get(name) ?? (await this.getStorage(address, slot));
      this.originals.set(name, value);
      return value;
    },
    clear: () => this.originals.clear(),
  };

  private readonly originals = new Map<string, Uint8Array>();
  private readonly checkpoints: number[] = [];

  /** @param trie - the state before the block */
  constructor(
    private readonly evm: Evm,
    private readonly trie: StateTrie,
  ) {}

  async getAccount({bytes}: Address): Promise<Account | undefined> {
    const account = readAccount(this.evm, bytes);
    if (account === undefined) return undefined;
    const {nonce, balance, codeHash, hasStorage} = account;
    return new Account(nonce, balance, hasStorage ? SOME_ROOT : undefined, codeHash);
  }

  /** Does not change the code: `putCode` does. */
  async putAccount(address: Address, account?: Account): Promise<void> {
    if (account === undefined) return this.deleteAccount(address);
    return this.modifyAccountFields(address, account);
  }

  async deleteAccount({bytes}: Address): Promise<void> {
    if (this.evm.exists(bytes)) this.evm.removeAccount(bytes);
  }

  async modifyAccountFields({bytes}: Address, {nonce, balance}: AccountFields): Promise<void> {
    const {evm} = this;
    // Creates the account, even with nonce 0.
    evm.writeNonce(bytes, nonce ?? evm.readNonce(bytes));
    if (balance !== undefined) evm.writeBalance(bytes, balance);
  }

  async putCode({bytes}: Address, code: Uint8Array): Promise<void> {
    this.evm.writeCode(bytes, code);
  }

  async getCode({bytes}: Address): Promise<Uint8Array> {
    return this.evm.readCode(bytes);
  }

  async getCodeSize({bytes}: Address): Promise<number> {
    return this.evm.readCode(bytes).length;
  }

  /** @returns the value without leading zeros */
  async getStorage({bytes}: Address, slot: Uint8Array): Promise<Uint8Array> {
    return unpadBytes(this.evm.readSlot(bytes, slot));
  }

  async putStorage({bytes}: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    this.evm.writeSlot(bytes, slot, value);
  }

  /** Does nothing for an account without slots, which must not count as deleted. */
  async clearStorage({bytes}: Address): Promise<void> {
    if (readAccount(this.evm, bytes)?.hasStorage === true) this.evm.clearStorage(bytes);
  }

  async checkpoint(): Promise<void> {
    this.checkpoints.push(this.evm.checkpoint());
  }

  async commit(): Promise<void> {
    this.checkpoints.pop();
  }

  async revert(): Promise<void> {
    const mark = this.checkpoints.pop();
    if (mark === undefined) throw new Error("no checkpoint to revert to");
    this.evm.revertTo(mark);
  }

  /** Called after each block and, before byzantium, after each transaction, whose receipt has the root. */
  async getStateRoot(): Promise<Uint8Array> {
    return this.trie.change(listDifferences(this.evm));
  }

  clearCaches(): void {}
}
