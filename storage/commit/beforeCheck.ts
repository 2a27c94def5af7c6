/**
 * Compares the state before a block, as its source says, with the store's. `where` names block and account; it is called for an error.
 *
 * All throw StoreError BEFORE_MISMATCH. Numbers in the store have no leading zeros.
 */
import type {AccountBefore} from "../block/accountDifference.ts";
import {StoreError} from "../errors.ts";
import {KECCAK_EMPTY} from "../hash/keccak.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {bigEndian} from "../record/recordBody.ts";
import type {Account, AccountCode} from "../tree/account.ts";
import {stripZeros} from "../tree/shortNumber.ts";

interface ComparedAccount extends Pick<Account, "nonce" | "balance"> {
  readonly code?: Pick<AccountCode, "keccakCodeHash"> | undefined;
}

/** @param old - undefined: the store does not have the account */
export function checkAccountBefore(
  before: AccountBefore,
  old: ComparedAccount | undefined,
  where: () => string,
): void {
  const {present, nonce, balance, keccakCodeHash} = before;
  if (present !== (old !== undefined))
    throw new StoreError(
      "BEFORE_MISMATCH",
      present
        ? `${where()}: the source says that it existed before the block; the store does not have it`
        : `${where()}: the source says that it did not exist before the block; the store has it`,
    );
  if (old === undefined) return;
  if (nonce !== undefined) checkNumber(bigEndian(nonce, 8), old.nonce, () => `${where()}: nonce`);
  if (balance !== undefined)
    checkNumber(bigEndian(balance, WORD_BYTES), old.balance, () => `${where()}: balance`);
  const currentHash = old.code?.keccakCodeHash ?? KECCAK_EMPTY;
  if (keccakCodeHash !== undefined && Buffer.compare(keccakCodeHash, currentHash) !== 0)
    throw differs(`${where()}: code hash`, toHex(keccakCodeHash), toHex(currentHash));
}

export function checkSlotBefore(
  slot: Uint8Array,
  before: Uint8Array,
  current: Uint8Array,
  where: () => string,
): void {
  checkNumber(before, current, () => `${where()}: slot ${toHex(slot)}`);
}

function checkNumber(before: Uint8Array, current: Uint8Array, where: () => string): void {
  const stripped = stripZeros(before);
  if (Buffer.compare(stripped, current) !== 0) throw differs(where(), quantity(stripped), quantity(current));
}

function differs(where: string, before: string, current: string): StoreError {
  return new StoreError(
    "BEFORE_MISMATCH",
    `${where} before the block: the source says ${before}, the store has ${current}`,
  );
}

function quantity(number: Uint8Array): string {
  return number.length === 0 ? "0x0" : `0x${BigInt(toHex(number)).toString(16)}`;
}
