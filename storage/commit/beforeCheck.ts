/**
 * Compares what a block says of the state before it with what the store has. A block that contradicts the store was made from
 * another state, so its changes would make a wrong one.
 */
import type {AccountBefore} from "../block/accountDifference.ts";
import {StoreError} from "../errors.ts";
import {KECCAK_EMPTY} from "../hash/keccak.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {bigEndian} from "../record/recordBody.ts";
import type {Account, AccountCode} from "../tree/account.ts";
import {stripZeros} from "../tree/shortNumber.ts";

/** What is compared of an account. */
interface HeldAccount extends Pick<Account, "nonce" | "balance"> {
  readonly code?: Pick<AccountCode, "keccakCodeHash"> | undefined;
}

/**
 * @param old - the account in the store, if it has it
 * @param where - block and account, for the message
 * @throws StoreError BEFORE_MISMATCH
 */
export function checkAccountBefore(before: AccountBefore, old: HeldAccount | undefined, where: string): void {
  const {present, nonce, balance, keccakCodeHash} = before;
  if (present !== (old !== undefined))
    throw new StoreError(
      "BEFORE_MISMATCH",
      present
        ? `${where}: the source says that it was there before the block; the store does not have it`
        : `${where}: the source says that it was not there before the block; the store has it`,
    );
  if (old === undefined) return;
  if (nonce !== undefined) checkNumber(bigEndian(nonce, 8), old.nonce, `${where}: nonce`);
  if (balance !== undefined) checkNumber(bigEndian(balance, WORD_BYTES), old.balance, `${where}: balance`);
  const heldHash = old.code?.keccakCodeHash ?? KECCAK_EMPTY;
  if (keccakCodeHash !== undefined && Buffer.compare(keccakCodeHash, heldHash) !== 0)
    throw differs(`${where}: code hash`, toHex(keccakCodeHash), toHex(heldHash));
}

/**
 * @param before - 32 bytes
 * @param held - the slot's value in the store, without leading zeros
 * @param where - block and account
 * @throws StoreError BEFORE_MISMATCH
 */
export function checkSlotBefore(slot: Uint8Array, before: Uint8Array, held: Uint8Array, where: string): void {
  checkNumber(before, held, `${where}: slot ${toHex(slot)}`);
}

function checkNumber(before: Uint8Array, held: Uint8Array, where: string): void {
  const stripped = stripZeros(before);
  if (Buffer.compare(stripped, held) !== 0) throw differs(where, quantity(stripped), quantity(held));
}

function differs(where: string, before: string, held: string): StoreError {
  return new StoreError(
    "BEFORE_MISMATCH",
    `${where} before the block: the source says ${before}, the store has ${held}`,
  );
}

function quantity(number: Uint8Array): string {
  return number.length === 0 ? "0x0" : `0x${BigInt(toHex(number)).toString(16)}`;
}
