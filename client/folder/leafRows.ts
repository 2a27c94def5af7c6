/** Converts verified accounts and slots to rows, and rows to the hashes of their leaves. */
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {type HashSuite, hashWord, type Leaf, newTreeRoot, oncePerSuite} from "../hash/hashSuites.ts";
import type {AccountLeaf} from "../leaves/treeLeaf.ts";
import {encodeAccount, NO_CODE_KECCAK, noCodeHash} from "../proof/account.ts";
import type {AccountRow, SlotRow} from "./row/tables.ts";

/** Values of an account without storage and code, which rows omit. */
const plainTexts = oncePerSuite(suite => ({
  storageRoot: encodeHex(newTreeRoot(suite)),
  codeHash: encodeHex(noCodeHash(suite)),
  keccakCodeHash: encodeHex(NO_CODE_KECCAK),
}));

export function accountRow(
  suite: HashSuite,
  {leafIndex, address, account}: Pick<AccountLeaf, "leafIndex" | "account"> & {readonly address: string},
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

export function hashesOfAccount(suite: HashSuite, row: AccountRow): Pick<Leaf, "hKey" | "hVal"> {
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

export function hashesOfSlot(suite: HashSuite, {slot, value}: SlotRow): Pick<Leaf, "hKey" | "hVal"> {
  return {hKey: hashWord(suite, slot), hVal: hashWord(suite, value)};
}
