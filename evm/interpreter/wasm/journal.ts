/**
 * The undo log: all writes to the state are made here.
 *
 *   record     kind u32, entry u32, the 32 bytes that were overwritten, 8 more for an account's code
 */
import {
  BALANCE,
  CODE,
  CODE_HASH,
  CREATED,
  DESTROYED,
  EXISTS,
  HAS_STORAGE,
  NONCE,
  newStorage,
  noteEnded,
  noteWritten,
  STORAGE,
  TOUCHED,
  transaction,
  WARM,
} from "./accounts";
import {EMPTY_HASH} from "./codes";
import {hostDecline} from "./host";
import {DECLINE_JOURNAL, JOURNAL, LOGS} from "./layout";
import {noteSlotWritten, SLOT_WARM, VALUE} from "./slots";
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
    if (kind == SLOT_RECORD) copyWord(entry + VALUE, top + 8);
    else if (kind == BALANCE_RECORD) copyWord(entry + BALANCE, top + 8);
    else if (kind == FIELD_RECORD) store<u32>(entry + load<u32>(top, 8), load<u32>(top, 12));
    else if (kind == SLOT_WARM_RECORD) store<u32>(entry, load<u32>(top, 8), SLOT_WARM);
    else if (kind == NONCE_RECORD) store<u64>(entry, load<u64>(top, 8), NONCE);
    else if (kind == CODE_RECORD) {
      copyWord(entry + CODE_HASH, top + 8);
      store<u32>(entry, load<u32>(top, 40), CODE);
    } else {
      copyWord(entry + VALUE, top + 8);
      store<u32>(entry, load<u32>(top, 40), SLOT_WARM);
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
  if (load<u32>(entry, WARM) == transaction) return false;
  setField(entry, WARM, transaction);
  return true;
}

/** @returns true if it was cold */
export function warmSlot(slot: usize): bool {
  const before = load<u32>(slot, SLOT_WARM);
  if (before == transaction) return false;
  store<u32>(record(SLOT_WARM_RECORD, slot), before, 8);
  store<u32>(slot, transaction, SLOT_WARM);
  return true;
}

export function touch(entry: usize): void {
  if (load<u32>(entry, TOUCHED) == transaction) return;
  setField(entry, TOUCHED, transaction);
  noteEnded(entry);
}

/** Creates the account if it does not exist. */
function make(entry: usize): void {
  noteWritten(entry);
  setField(entry, EXISTS, 1);
}

/** @param value - address of the word */
export function setBalance(entry: usize, value: usize): void {
  const at = record(BALANCE_RECORD, entry);
  copyWord(at + 8, entry + BALANCE);
  copyWord(entry + BALANCE, value);
  noteWritten(entry);
  if (!isZero(value)) make(entry);
}

export function setNonce(entry: usize, nonce: u64): void {
  const at = record(NONCE_RECORD, entry);
  store<u64>(at, load<u64>(entry, NONCE), 8);
  store<u64>(entry, nonce, NONCE);
  make(entry);
}

/** @param code - the entry of the code, which begins with the hash */
export function setCode(entry: usize, code: usize): void {
  const at = record(CODE_RECORD, entry);
  copyWord(at + 8, entry + CODE_HASH);
  store<u32>(at, load<u32>(entry, CODE), 40);
  copyWord(entry + CODE_HASH, code);
  store<u32>(entry, <u32>code, CODE);
  make(entry);
}

/** @param value - address of the word */
export function setSlot(account: usize, slot: usize, value: usize): void {
  const at = record(SLOT_RECORD, slot);
  copyWord(at + 8, slot + VALUE);
  copyWord(slot + VALUE, value);
  noteSlotWritten(slot);
  noteWritten(account);
  if (!isZero(value)) setField(account, HAS_STORAGE, 1);
}

/** @param value - address of the word */
export function setTransient(slot: usize, value: usize): void {
  const at = record(TRANSIENT_RECORD, slot);
  copyWord(at + 8, slot + VALUE);
  store<u32>(at, load<u32>(slot, SLOT_WARM), 40);
  copyWord(slot + VALUE, value);
  store<u32>(slot, transaction, SLOT_WARM);
}

/** Removes all slots of the account. */
export function dropStorage(entry: usize): void {
  noteWritten(entry);
  setField(entry, STORAGE, newStorage());
  setField(entry, HAS_STORAGE, 0);
}

export function markCreated(entry: usize): void {
  setField(entry, CREATED, transaction);
}

export function markDestroyed(entry: usize): void {
  setField(entry, DESTROYED, transaction);
  noteEnded(entry);
}

/** Removes the account with its slots. */
export function removeAccount(entry: usize): void {
  noteWritten(entry);
  dropStorage(entry);
  const at = record(BALANCE_RECORD, entry);
  copyWord(at + 8, entry + BALANCE);
  memory.fill(entry + BALANCE, 0, 32);
  const nonce = record(NONCE_RECORD, entry);
  store<u64>(nonce, load<u64>(entry, NONCE), 8);
  store<u64>(entry, 0, NONCE);
  const code = record(CODE_RECORD, entry);
  copyWord(code + 8, entry + CODE_HASH);
  store<u32>(code, load<u32>(entry, CODE), 40);
  copyWord(entry + CODE_HASH, EMPTY_HASH);
  store<u32>(entry, 0, CODE);
  setField(entry, EXISTS, 0);
}
