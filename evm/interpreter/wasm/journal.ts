/**
 * The undo log: all writes to the state are made here.
 *
 *   record     kind u32, entry u32, the 32 bytes that were overwritten, 8 more for an account's code
 */
import * as Account from "./accounts";
import {newStorage, noteEnded, noteWritten, transaction} from "./accounts";
import {codeOf, EMPTY_HASH} from "./codes";
import {hostDecline} from "./host";
import {DECLINE_JOURNAL, JOURNAL, LOGS} from "./layout";
import * as Slot from "./slots";
import {noteSlotWritten} from "./slots";
import {copyWord, isZero} from "./words";

const RECORD_BYTES: usize = 48;
const BALANCE_RECORD: u32 = 0;
const NONCE_RECORD: u32 = 1;
const CODE_RECORD: u32 = 2;
/** A u32 field of an account: exists, storage, has storage, warm, created, touched, destroyed. */
const FIELD_RECORD: u32 = 3;
const SLOT_RECORD: u32 = 4;
const SLOT_WARM_RECORD: u32 = 5;
const TRANSIENT_RECORD: u32 = 6;

const ZERO: usize = memory.data(32);

let top: usize = JOURNAL;

export function journalMark(): usize {
  return top;
}

export function resetJournal(): void {
  top = JOURNAL;
}

function record(kind: u32, entry: usize): usize {
  const at = top;
  if (at + RECORD_BYTES > LOGS) hostDecline(DECLINE_JOURNAL);
  top = at + RECORD_BYTES;
  store<u32>(at, kind);
  store<u32>(at, <u32>entry, 4);
  return at;
}

export function undoTo(mark: usize): void {
  while (top > mark) {
    top -= RECORD_BYTES;
    const kind = load<u32>(top);
    const entry: usize = load<u32>(top, 4);
    if (kind == SLOT_RECORD) copyWord(entry + Slot.VALUE, top + 8);
    else if (kind == BALANCE_RECORD) copyWord(entry + Account.BALANCE, top + 8);
    else if (kind == FIELD_RECORD) store<u32>(entry + load<u32>(top, 8), load<u32>(top, 12));
    else if (kind == SLOT_WARM_RECORD) store<u32>(entry, load<u32>(top, 8), Slot.SLOT_WARM);
    else if (kind == NONCE_RECORD) store<u64>(entry, load<u64>(top, 8), Account.NONCE);
    else if (kind == CODE_RECORD) {
      copyWord(entry + Account.CODE_HASH, top + 8);
      store<u32>(entry, load<u32>(top, 40), Account.CODE);
    } else {
      copyWord(entry + Slot.VALUE, top + 8);
      store<u32>(entry, load<u32>(top, 40), Slot.SLOT_WARM);
    }
  }
}

export function setField(entry: usize, field: usize, value: u32): void {
  const before = load<u32>(entry + field);
  if (before == value) return;
  const at = record(FIELD_RECORD, entry);
  store<u32>(at, <u32>field, 8);
  store<u32>(at, before, 12);
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
  const before = load<u32>(slot, Slot.SLOT_WARM);
  if (before == transaction) return false;
  store<u32>(record(SLOT_WARM_RECORD, slot), before, 8);
  store<u32>(slot, transaction, Slot.SLOT_WARM);
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
  const at = record(BALANCE_RECORD, entry);
  copyWord(at + 8, entry + Account.BALANCE);
  copyWord(entry + Account.BALANCE, value);
  noteWritten(entry);
  if (!isZero(value)) make(entry);
}

export function setNonce(entry: usize, nonce: u64): void {
  const at = record(NONCE_RECORD, entry);
  store<u64>(at, load<u64>(entry, Account.NONCE), 8);
  store<u64>(entry, nonce, Account.NONCE);
  make(entry);
}

/** @param code - the entry of the code, which begins with the hash */
export function setCode(entry: usize, code: usize): void {
  const at = record(CODE_RECORD, entry);
  copyWord(at + 8, entry + Account.CODE_HASH);
  store<u32>(at, load<u32>(entry, Account.CODE), 40);
  copyWord(entry + Account.CODE_HASH, code);
  store<u32>(entry, <u32>code, Account.CODE);
  make(entry);
}

/** @param value - address of the word */
export function setSlot(account: usize, slot: usize, value: usize): void {
  const at = record(SLOT_RECORD, slot);
  copyWord(at + 8, slot + Slot.VALUE);
  copyWord(slot + Slot.VALUE, value);
  noteSlotWritten(slot);
  noteWritten(account);
  if (!isZero(value)) setField(account, Account.HAS_STORAGE, 1);
}

/** @param value - address of the word */
export function setTransient(slot: usize, value: usize): void {
  const at = record(TRANSIENT_RECORD, slot);
  copyWord(at + 8, slot + Slot.VALUE);
  store<u32>(at, load<u32>(slot, Slot.SLOT_WARM), 40);
  copyWord(slot + Slot.VALUE, value);
  store<u32>(slot, transaction, Slot.SLOT_WARM);
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
