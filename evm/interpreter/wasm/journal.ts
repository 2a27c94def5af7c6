/**
 * The undo log: all writes to the state are made here.
 *
 *   record     address u32, how many bytes of it are overwritten u32 (4, 8 or 32), the 32 bytes that were there
 */
import * as Account from "./accounts";
import {newStorage, noteEnded, noteWritten, transaction} from "./accounts";
import {codeOf, EMPTY_HASH} from "./codes";
import {hostDecline} from "./host";
import {DECLINE_JOURNAL, JOURNAL, LOGS} from "./layout";
import * as Slot from "./slots";
import {noteSlotWritten} from "./slots";
import {copyWord, isZero, ZERO} from "./words";

const RECORD_BYTES: usize = 40;

let top: usize = JOURNAL;

export function journalMark(): usize {
  return top;
}

export function resetJournal(): void {
  top = JOURNAL;
}

/** Keeps what is about to be overwritten. */
function record(address: usize, bytes: usize): void {
  const at = top;
  if (at + RECORD_BYTES > LOGS) hostDecline(DECLINE_JOURNAL);
  top = at + RECORD_BYTES;
  store<u32>(at, <u32>address);
  store<u32>(at, <u32>bytes, 4);
  copyWord(at + 8, address);
}

export function undoTo(mark: usize): void {
  while (top > mark) {
    top -= RECORD_BYTES;
    const address: usize = load<u32>(top);
    const bytes = load<u32>(top, 4);
    if (bytes == 32) copyWord(address, top + 8);
    else if (bytes == 4) store<u32>(address, load<u32>(top, 8));
    else store<u64>(address, load<u64>(top, 8));
  }
}

function setWord(address: usize, value: usize): void {
  record(address, 32);
  copyWord(address, value);
}

export function setField(entry: usize, field: usize, value: u32): void {
  if (load<u32>(entry + field) == value) return;
  record(entry + field, 4);
  store<u32>(entry + field, value);
}

/** @returns true if it was cold */
export function warmAccount(entry: usize): bool {
  if (load<u32>(entry, Account.WARM) == transaction) return false;
  setField(entry, Account.WARM, transaction);
  return true;
}

/** @returns true if it was cold */
export function warmSlot(slot: usize): bool {
  if (load<u32>(slot, Slot.SLOT_WARM) == transaction) return false;
  setField(slot, Slot.SLOT_WARM, transaction);
  return true;
}

export function touch(entry: usize): void {
  if (load<u32>(entry, Account.TOUCHED) == transaction) return;
  setField(entry, Account.TOUCHED, transaction);
  noteEnded(entry);
}

/** Creates the account if it does not exist. */
function make(entry: usize): void {
  noteWritten(entry);
  setField(entry, Account.EXISTS, 1);
}

/** @param value - address of the word */
export function setBalance(entry: usize, value: usize): void {
  setWord(entry + Account.BALANCE, value);
  noteWritten(entry);
  if (!isZero(value)) make(entry);
}

export function setNonce(entry: usize, nonce: u64): void {
  record(entry + Account.NONCE, 8);
  store<u64>(entry, nonce, Account.NONCE);
  make(entry);
}

/** @param code - the entry of the code, which begins with the hash */
export function setCode(entry: usize, code: usize): void {
  setWord(entry + Account.CODE_HASH, code);
  setField(entry, Account.CODE, <u32>code);
  make(entry);
}

/** @param value - address of the word */
export function setSlot(account: usize, slot: usize, value: usize): void {
  setWord(slot + Slot.VALUE, value);
  noteSlotWritten(slot);
  noteWritten(account);
  if (!isZero(value)) setField(account, Account.HAS_STORAGE, 1);
}

/** @param value - address of the word */
export function setTransient(slot: usize, value: usize): void {
  setWord(slot + Slot.VALUE, value);
  setField(slot, Slot.SLOT_WARM, transaction);
}

export function dropStorage(entry: usize): void {
  noteWritten(entry);
  setField(entry, Account.STORAGE, newStorage());
  setField(entry, Account.HAS_STORAGE, 0);
}

export function markCreated(entry: usize): void {
  setField(entry, Account.CREATED, transaction);
}

export function markDestroyed(entry: usize): void {
  setField(entry, Account.DESTROYED, transaction);
  noteEnded(entry);
}

export function removeAccount(entry: usize): void {
  dropStorage(entry);
  setBalance(entry, ZERO);
  setNonce(entry, 0);
  setCode(entry, codeOf(EMPTY_HASH));
  setField(entry, Account.EXISTS, 0);
}
