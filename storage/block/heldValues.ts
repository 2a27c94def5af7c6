/** The values of single accounts and slots as of one block, by point reads. For comparing them with those of a node. */
import {decodeStoredAccount} from "../tree/account.ts";
import {accountTree, storageTree, type Tree} from "../tree/tree.ts";
import type {StateReader} from "./stateReader.ts";

const NO_BYTES = new Uint8Array(0);

/** An account that is not there has zeros and no code. */
interface HeldAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
}

export class HeldValues {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  private readonly accounts: Tree;

  /** @throws StoreError BLOCK_UNKNOWN, RECORD_MISSING, RECORD_DAMAGED, as do all reads */
  constructor(
    private readonly reader: StateReader,
    readonly block: number,
  ) {
    const {header, accounts} = reader.blockOrThrow(block);
    this.blockHash = header.hash;
    this.accounts = accountTree(reader, accounts);
  }

  /** @param address - 20 bytes */
  readAccount(address: Uint8Array): HeldAccount {
    const leaf = this.accounts.read(this.reader.suite.hashAddress(address));
    if (leaf === undefined) return {nonce: 0n, balance: 0n, code: NO_BYTES};
    const {nonce, balance, code} = decodeStoredAccount(leaf.value);
    return {
      nonce: toNumber(nonce),
      balance: toNumber(balance),
      code: code === undefined ? NO_BYTES : this.reader.readCode(code.keccakCodeHash),
    };
  }

  /** @param slot - 32 bytes. @returns 0 for a slot that is not there */
  readSlot(address: Uint8Array, slot: Uint8Array): bigint {
    const hKey = this.reader.suite.hashAddress(address);
    const leaf = this.accounts.read(hKey);
    const storage = leaf === undefined ? undefined : decodeStoredAccount(leaf.value).storage;
    if (storage === undefined) return 0n;
    const tree = storageTree(this.reader, storage.tree, hKey);
    const value = tree.read(this.reader.suite.hashSlot(slot))?.value;
    return value === undefined ? 0n : toNumber(value);
  }
}

/** @param bytes - big-endian, without leading zeros */
function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
