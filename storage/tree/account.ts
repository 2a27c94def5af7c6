/**
 * An account: its 192-byte value (what is proved) and its stored form (what a leaf page holds).
 *
 *   value        nonce | balance | storageRoot | codeHash | keccakCodeHash | codeSize          32 bytes each
 *   stored form  flags u8 | nonce u8 length, bytes | balance u8 length, bytes
 *                | [code: codeHash 32, keccakCodeHash 32, codeSize u32] | [storage: storageRoot 32, tree root 49]
 *
 * Numbers have no leading zeros (shortNumber.ts). Most accounts have neither code nor storage and take about 15 bytes.
 */

import {StoreError} from "../errors.ts";
import {KECCAK_EMPTY} from "../hash/keccak.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import type {Leaf} from "../page/leafPage.ts";
import type {EmptyTree} from "./emptyTree.ts";
import {writeWordInto} from "./shortNumber.ts";
import {
  decodeTreeRoot,
  encodeTreeRootInto,
  readNextFreeNode,
  TREE_ROOT_BYTES,
  type TreeRoot,
} from "./treeRoot.ts";

const HAS_CODE = 1;
const HAS_STORAGE = 2;
const CODE_BYTES = 2 * WORD_BYTES + 4;

export interface Account {
  /** Without leading zeros (shortNumber.ts). */
  readonly nonce: Uint8Array;
  readonly balance: Uint8Array;
  readonly code: AccountCode | undefined;
  /** undefined = the account never had a slot: its storage tree is a new one. */
  readonly storage: AccountStorage | undefined;
}

export interface AccountCode {
  /** 32 bytes, the suite's hash. */
  readonly codeHash: Uint8Array;
  /** 32 bytes. */
  readonly keccakCodeHash: Uint8Array;
  /** Bytes. */
  readonly codeSize: number;
}

export interface AccountStorage {
  /** 32 bytes: the top root of the tree. */
  readonly storageRoot: Uint8Array;
  readonly tree: TreeRoot;
}

export const NEW_ACCOUNT: Account = {
  nonce: new Uint8Array(0),
  balance: new Uint8Array(0),
  code: undefined,
  storage: undefined,
};

export function encodeAccountValueInto(
  out: Uint8Array,
  offset: number,
  account: Account,
  empty: EmptyTree,
): void {
  writeWordInto(out, offset, account.nonce);
  writeWordInto(out, offset + WORD_BYTES, account.balance);
  out.set(account.storage?.storageRoot ?? empty.topRoot, offset + 2 * WORD_BYTES);
  out.set(account.code?.codeHash ?? empty.codeHash, offset + 3 * WORD_BYTES);
  out.set(account.code?.keccakCodeHash ?? KECCAK_EMPTY, offset + 4 * WORD_BYTES);
  out.fill(0, offset + 5 * WORD_BYTES, offset + ACCOUNT_VALUE_BYTES);
  let size = account.code?.codeSize ?? 0;
  for (let at = offset + ACCOUNT_VALUE_BYTES - 1; size > 0; size = Math.floor(size / 256))
    out[at--] = size % 256;
}

export function encodeStoredAccount(account: Account): Buffer {
  const {nonce, balance, code, storage} = account;
  const bytes = Buffer.allocUnsafe(
    3 +
      nonce.length +
      balance.length +
      (code ? CODE_BYTES : 0) +
      (storage ? WORD_BYTES + TREE_ROOT_BYTES : 0),
  );
  bytes[0] = (code ? HAS_CODE : 0) | (storage ? HAS_STORAGE : 0);
  let at = 1;
  for (const number of [nonce, balance]) {
    bytes[at] = number.length;
    bytes.set(number, at + 1);
    at += 1 + number.length;
  }
  if (code !== undefined) {
    bytes.set(code.codeHash, at);
    bytes.set(code.keccakCodeHash, at + WORD_BYTES);
    bytes.writeUInt32BE(code.codeSize, at + 2 * WORD_BYTES);
    at += CODE_BYTES;
  }
  if (storage !== undefined) {
    bytes.set(storage.storageRoot, at);
    encodeTreeRootInto(bytes, at + WORD_BYTES, storage.tree);
  }
  return bytes;
}

/** Where the parts of one stored account are, for readers that copy them. `find` overwrites them. */
export class StoredParts {
  nonceAt = 0;
  nonceBytes = 0;
  balanceAt = 0;
  balanceBytes = 0;
  /** codeHash and keccakCodeHash; -1: no code. */
  codeAt = -1;
  codeSize = 0;
  /** storageRoot and tree root; -1: the account never had a slot. */
  storageAt = -1;
  nextFreeSlot = 0;

  /** Hot: runs once per leaf of a range, which `page` has from `start` to `end`. @throws StoreError RECORD_DAMAGED */
  find(page: Buffer, start: number, end: number): void {
    const flags = page[start] as number;
    this.nonceBytes = page[start + 1] as number;
    this.nonceAt = start + 2;
    this.balanceAt = this.nonceAt + this.nonceBytes;
    this.balanceBytes = page[this.balanceAt] as number;
    let at = this.balanceAt + 1 + this.balanceBytes;
    this.codeAt = (flags & HAS_CODE) === 0 ? -1 : at;
    if (this.codeAt >= 0) at += CODE_BYTES;
    this.storageAt = (flags & HAS_STORAGE) === 0 ? -1 : at;
    if (this.storageAt >= 0) at += WORD_BYTES + TREE_ROOT_BYTES;
    if (at !== end) throw new StoreError("RECORD_DAMAGED", "an account's leaf does not decode");
    this.codeSize = this.codeAt < 0 ? 0 : page.readUInt32BE(this.codeAt + 2 * WORD_BYTES);
    this.nextFreeSlot = this.storageAt < 0 ? 0 : readNextFreeNode(page, this.storageAt + WORD_BYTES);
  }
}

const parts = new StoredParts();

/** The parts are views of `bytes`. @throws StoreError RECORD_DAMAGED */
export function decodeStoredAccount(bytes: Uint8Array): Account {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  parts.find(stored, 0, stored.length);
  const {nonceAt, nonceBytes, balanceAt, balanceBytes, codeAt, codeSize, storageAt} = parts;
  const wordAt = (at: number) => stored.subarray(at, at + WORD_BYTES);
  return {
    nonce: stored.subarray(nonceAt, nonceAt + nonceBytes),
    balance: stored.subarray(balanceAt + 1, balanceAt + 1 + balanceBytes),
    code:
      codeAt < 0
        ? undefined
        : {codeHash: wordAt(codeAt), keccakCodeHash: wordAt(codeAt + WORD_BYTES), codeSize},
    storage:
      storageAt < 0
        ? undefined
        : {storageRoot: wordAt(storageAt), tree: decodeTreeRoot(stored, storageAt + WORD_BYTES)},
  };
}

/** @returns undefined for no leaf, for head and tail, and for an account that never had a slot */
export function storageTreeOf(leaf: Leaf | undefined): TreeRoot | undefined {
  if (leaf === undefined || leaf.value.length === 0) return undefined;
  return decodeStoredAccount(leaf.value).storage?.tree;
}
