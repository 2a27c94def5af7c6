/** A state in plain maps, which @ethereumjs executes on. It shares nothing with our own EVM and its trie. */
import type {AccountFields} from "@ethereumjs/common";
import {Account, type Address, unpadBytes} from "@ethereumjs/util";
import type {AccountChange, AccountDifference} from "../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {KECCAK_EMPTY, keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "../chains/memoryState.ts";

/** Replaced by every write, so that copies of the map of all accounts can share it. */
type Held = Readonly<MemoryAccount> & {readonly codeHash: Uint8Array};
type Accounts = Map<string, Held>;

const NO_BYTES = new Uint8Array(0);
const ZERO = `0x${"0".repeat(64)}`;
/** Stands for any storage that is not empty. */
const SOME_ROOT = new Uint8Array(32).fill(1);

export class LibraryState {
  /** What slots held when they were asked for first since `clear` (EIP-1283). */
  readonly originalStorageCache = {
    get: async (address: Address, slot: Uint8Array): Promise<Uint8Array> => {
      const name = toHex(address.bytes) + toHex(slot);
      const value = this.originals.get(name) ?? (await this.getStorage(address, slot));
      this.originals.set(name, value);
      return value;
    },
    clear: () => this.originals.clear(),
  };

  private readonly originals = new Map<string, Uint8Array>();
  private readonly codes = new Map<string, Uint8Array>();
  /** At the last `seal`. */
  private before: Accounts = new Map();
  private accounts: Accounts;
  /** Accounts that have been deleted since, or have lost slots to a creation. */
  private dropped = new Set<string>();
  private readonly checkpoints: {accounts: Accounts; dropped: Set<string>}[] = [];

  constructor({accounts}: MemoryState) {
    for (const [name, account] of accounts)
      this.before.set(name, {...account, slots: new Map(account.slots), codeHash: this.keep(account.code)});
    this.accounts = new Map(this.before);
  }

  static of(block0: BlockDifference): LibraryState {
    const state = new MemoryState();
    state.apply(block0);
    return new LibraryState(state);
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const held = this.read(address);
    const root = held !== undefined && held.slots.size > 0 ? SOME_ROOT : undefined;
    return held && new Account(held.nonce, held.balance, root, held.codeHash);
  }

  async putAccount(address: Address, account?: Account): Promise<void> {
    if (account === undefined) return this.deleteAccount(address);
    const {nonce, balance, codeHash} = account;
    const code = this.codes.get(toHex(codeHash)) ?? NO_BYTES;
    this.write(address, {nonce, balance, codeHash, code, slots: this.read(address)?.slots ?? new Map()});
  }

  async deleteAccount(address: Address): Promise<void> {
    if (this.accounts.delete(toHex(address.bytes))) this.dropped.add(toHex(address.bytes));
  }

  async modifyAccountFields(address: Address, fields: AccountFields): Promise<void> {
    const account = (await this.getAccount(address)) ?? new Account();
    await this.putAccount(address, Object.assign(account, fields));
  }

  putCode(address: Address, code: Uint8Array): Promise<void> {
    return this.modifyAccountFields(address, {codeHash: this.keep(new Uint8Array(code))});
  }

  async getCode(address: Address): Promise<Uint8Array> {
    return this.read(address)?.code ?? NO_BYTES;
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).length;
  }

  /** The value without leading zeros. */
  async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    return unpadBytes(wordOf(this.read(address)?.slots.get(toHex(slot))));
  }

  async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    const held = this.read(address);
    if (held === undefined) throw new Error("a slot was written to an account that does not exist");
    const slots = new Map(held.slots);
    const text = `0x${Buffer.from(value).toString("hex").padStart(64, "0")}`;
    if (text === ZERO) slots.delete(toHex(slot));
    else slots.set(toHex(slot), text);
    this.write(address, {...held, slots});
  }

  async clearStorage(address: Address): Promise<void> {
    const held = this.read(address);
    if (held !== undefined) this.write(address, {...held, slots: new Map()});
    const name = toHex(address.bytes);
    if ((this.before.get(name)?.slots.size ?? 0) > 0) this.dropped.add(name);
  }

  async checkpoint(): Promise<void> {
    this.checkpoints.push({accounts: new Map(this.accounts), dropped: new Set(this.dropped)});
  }

  async commit(): Promise<void> {
    if (this.checkpoints.pop() === undefined) throw new Error("no checkpoint to commit");
  }

  async revert(): Promise<void> {
    const last = this.checkpoints.pop();
    if (last === undefined) throw new Error("no checkpoint to revert to");
    ({accounts: this.accounts, dropped: this.dropped} = last);
  }

  clearCaches(): void {}

  getStateRoot(): Promise<Uint8Array> {
    return new MemoryState(this.accounts).computeTrieRoot();
  }

  /** What has changed since the last `seal`. Steps in between do not show. */
  listDifferences(): AccountDifferences {
    const differences = new AccountDifferences();
    for (const name of new Set([...this.before.keys(), ...this.accounts.keys()])) {
      const difference = this.differ(name);
      if (difference !== undefined) differences.add(difference);
    }
    return differences;
  }

  /** What was written is the base of the next block. */
  seal(): void {
    if (this.checkpoints.length > 0) throw new Error("a block was sealed inside a checkpoint");
    this.before = new Map(this.accounts);
    this.dropped.clear();
    this.originals.clear();
  }

  private differ(name: string): AccountDifference | undefined {
    const address = bytesOf(name);
    const [before, after] = [this.before.get(name), this.accounts.get(name)];
    if (before === after) return undefined;
    if (after === undefined) return {address, change: undefined};
    const reset = before !== undefined && this.dropped.has(name);
    const base = reset ? undefined : before;
    const slots = [...new Set([...(base?.slots.keys() ?? []), ...after.slots.keys()])];
    const storage = slots
      .filter(slot => base?.slots.get(slot) !== after.slots.get(slot))
      .map(slot => ({slot: bytesOf(slot), value: wordOf(after.slots.get(slot))}));
    const {nonce, balance, code} = after;
    if (base === undefined) return {address, change: {reset, nonce, balance, code, storage}};
    const change: AccountChange = {
      nonce: base.nonce === nonce ? undefined : nonce,
      balance: base.balance === balance ? undefined : balance,
      code: toHex(base.codeHash) === toHex(after.codeHash) ? undefined : code,
      storage,
    };
    const isSame =
      storage.length === 0 && Object.values(change).filter(value => value !== undefined).length === 1;
    return isSame ? undefined : {address, change};
  }

  private read(address: Address): Held | undefined {
    return this.accounts.get(toHex(address.bytes));
  }

  private write(address: Address, held: Held): void {
    this.accounts.set(toHex(address.bytes), held);
  }

  /** @returns its hash */
  private keep(code: Uint8Array): Uint8Array {
    if (code.length === 0) return KECCAK_EMPTY;
    const hash = keccak256(code);
    this.codes.set(toHex(hash), code);
    return hash;
  }
}

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2), "hex"));
}

function wordOf(value = ZERO): Uint8Array {
  return bytesOf(value);
}
