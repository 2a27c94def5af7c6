/** The state in our own EVM, as @ethereumjs reads and writes it. So both leave what a block changed in the same form. */
import type {AccountFields, StateManagerInterface} from "@ethereumjs/common";
import {Account, type Address, unpadBytes} from "@ethereumjs/util";
import type {StateTrie} from "../../storage/commit/stateTrie.ts";
import type {Evm} from "../interpreter/evm.ts";
import {readAccount} from "../interpreter/written.ts";
import {listDifferences} from "./chainState.ts";

/** Stands for any storage that is not empty. */
const SOME_ROOT = new Uint8Array(32).fill(1);

export class EvmState implements StateManagerInterface {
  /** What slots held when they were asked for first since `clear` (EIP-1283). */
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

  /** @param trie - of the state before the block */
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

  /** Its code is that which it has, or which `putCode` sets. */
  async putAccount(address: Address, account?: Account): Promise<void> {
    if (account === undefined) return this.deleteAccount(address);
    return this.modifyAccountFields(address, account);
  }

  async deleteAccount({bytes}: Address): Promise<void> {
    if (this.evm.exists(bytes)) this.evm.removeAccount(bytes);
  }

  async modifyAccountFields({bytes}: Address, {nonce, balance}: AccountFields): Promise<void> {
    const {evm} = this;
    // Makes the account, also with 0.
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

  /** The value without leading zeros. */
  async getStorage({bytes}: Address, slot: Uint8Array): Promise<Uint8Array> {
    return unpadBytes(this.evm.readSlot(bytes, slot));
  }

  async putStorage({bytes}: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    this.evm.writeSlot(bytes, slot, value);
  }

  /** An account that has no slots goes on with its storage, as it was not deleted. */
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

  /** Asked for after each block, before byzantium also after each transaction, for its receipt. */
  async getStateRoot(): Promise<Uint8Array> {
    return this.trie.change(listDifferences(this.evm));
  }

  clearCaches(): void {}

  /** Block execution calls none of the last three: a trie is found by its page, and the EVM's state has one user. */
  setStateRoot(): Promise<void> {
    throw new Error("the state cannot be moved");
  }

  hasStateRoot(): Promise<boolean> {
    throw new Error("the state knows no other roots");
  }

  shallowCopy(): StateManagerInterface {
    throw new Error("the state cannot be copied");
  }
}
