/** Converts verified accounts and slots to rows, and rows to the hashes of their leaves. */
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {type HashSuite, hashSlot, hashSlotValue, newTreeRoot, oncePerSuite} from "../hash/hashSuites.ts";
import type {AccountLeaf} from "../leaves/treeLeaf.ts";
import {type Account, encodeAccount, NO_CODE_KECCAK, noCodeHash} from "../proof/account.ts";
import type {AccountRow, SlotRow} from "./row/tables.ts";

/** Values of an account without storage and code, which rows omit. */
const plainTexts = oncePerSuite(suite => ({
  storageRoot: encodeHex(newTreeRoot(suite)),
  codeHash: encodeHex(noCodeHash(suite)),
  keccakCodeHash: encodeHex(NO_CODE_KECCAK),
}));

/** @param address - `0x` text */
export function accountRow(
  suite: HashSuite,
  leafIndex: number,
  address: string,
  account: Account,
): AccountRow {
  const plain = plainTexts(suite);
  const unlessPlain = (name: keyof typeof plain) =>
    account[name] === plain[name] ? undefined : decodeHex(account[name]);
  return {
    leafIndex,
    address: decodeHex(address),
    nonce: account.nonce,
    balance: account.balance,
    storageRoot: unlessPlain("storageRoot"),
    codeHash: unlessPlain("codeHash"),
    keccakCodeHash: unlessPlain("keccakCodeHash"),
    codeSize: account.codeSize,
  };
}

export function rowOfAccountLeaf(suite: HashSuite, {leafIndex, address, account}: AccountLeaf): AccountRow {
  return accountRow(suite, leafIndex, address, account);
}

/** What a leaf hashes. */
interface LeafHashes {
  readonly hKey: Uint8Array;
  readonly hVal: Uint8Array;
}

export function hashesOfAccount(suite: HashSuite, row: AccountRow): LeafHashes {
  const plain = plainTexts(suite);
  const textOf = (name: keyof typeof plain) => {
    const bytes = row[name];
    return bytes === undefined ? plain[name] : encodeHex(bytes);
  };
  const value = encodeAccount({
    ...row,
    storageRoot: textOf("storageRoot"),
    codeHash: textOf("codeHash"),
    keccakCodeHash: textOf("keccakCodeHash"),
  });
  return {hKey: suite.hashAddress(row.address), hVal: suite.hashAccountValue(value)};
}

export function hashesOfSlot(suite: HashSuite, {slot, value}: SlotRow): LeafHashes {
  return {hKey: hashSlot(suite, slot), hVal: hashSlotValue(suite, value)};
}
