/** What calls and creations share: account access, memory, value transfer, frames, return to the calling frame. */
import * as Account from "./accounts";
import {accountFor, precompileAt} from "./accounts";
import {CODE_AT, CODE_BYTES} from "./codes";
import * as Frame from "./frames";
import {current, expand, FRAME_BYTES, MOST_PRICED, setCurrent} from "./frames";
import {setBalance, touch, warmAccount} from "./journal";
import {RETURNED, REVERT, SCRATCH, SUCCESS} from "./layout";
import {logsMark} from "./logs";
import {COLD_ACCOUNT_GAS, WARM_GAS} from "./params";
import {returnedBytes} from "./returned";
import {noteBounded, noteSensitive, refund} from "./run";
import {add, copyWord, isShort, isZero, setWord, subtract} from "./words";

const SUM: usize = SCRATCH + 512;

/** The account that the last `access` found. */
export let accessed: usize = 0;

/** Accesses an account (EIP-2929). @returns the gas left; negative if it is not enough: then nothing was read, unless readsUnpaid */
export function access(word: usize, gas: i64): i64 {
  const account = accountFor(word, gas);
  if (account == 0) return -1;
  accessed = account;
  return gas - (precompileAt(word) != 0 || !warmAccount(account) ? WARM_GAS : COLD_ACCOUNT_GAS);
}

/** Expands memory to `offset + bytes`, which are words. @returns the gas left; negative if it is not enough */
export function expandFor(frame: usize, offset: usize, bytes: usize, gas: i64): i64 {
  if (isZero(bytes)) return gas;
  if (!isShort(offset) || !isShort(bytes)) return -1;
  const from = load<u64>(offset);
  const length = load<u64>(bytes);
  if ((from | length) > MOST_PRICED) return -1;
  return expand(frame, from + length, gas);
}

/** Transfers value. @returns false if the balance of the receiver would overflow */
export function transfer(from: usize, to: usize, value: usize): bool {
  if (from == to) return true;
  if (add(SUM, to + Account.BALANCE, value)) return false;
  const sum = SUM + 32;
  subtract(sum, from + Account.BALANCE, value);
  setBalance(from, sum);
  touch(from);
  setBalance(to, SUM);
  return true;
}

/** The caller sets its code and input. @param arena - where its memory begins. @param journal - to revert to */
export function pushFrame(arena: usize, journal: usize, gas: i64): usize {
  const parent = current;
  const frame = parent + FRAME_BYTES;
  // memory.fill, a call out of WebAssembly, takes 3 ns longer.
  for (let at: usize = 0; at < FRAME_BYTES; at += 16) v128.store(frame + at, i64x2(0, 0));
  const stack = load<u32>(parent, Frame.SP);
  store<u32>(frame, stack, Frame.SP);
  store<u32>(frame, stack, Frame.STACK_BASE);
  store<u32>(frame, <u32>((arena + 31) & ~31), Frame.MEMORY);
  store<u32>(frame, load<u32>(parent, Frame.IS_STATIC), Frame.IS_STATIC);
  store<i64>(frame, gas, Frame.GAS);
  store<i64>(frame, gas, Frame.START_GAS);
  store<u32>(frame, <u32>journal, Frame.JOURNAL_MARK);
  store<u32>(frame, <u32>logsMark(), Frame.LOGS_MARK);
  store<i64>(frame, refund, Frame.REFUND_MARK);
  setCurrent(frame);
  return frame;
}

export function useCode(frame: usize, code: usize, input: usize, inputBytes: u32): void {
  const at = load<u32>(code, CODE_AT);
  store<u32>(frame, at, Frame.CODE);
  store<u32>(frame, at, Frame.IP);
  store<u32>(frame, load<u32>(code, CODE_BYTES), Frame.CODE_LENGTH);
  store<u32>(frame, <u32>code, Frame.CODE_ENTRY);
  store<u32>(frame, <u32>input, Frame.INPUT);
  store<u32>(frame, inputBytes, Frame.INPUT_BYTES);
}

export function setAddress(to: usize, account: usize): void {
  copyWord(to, account + Account.ADDRESS);
  store<u64>(to, 0, 24);
}

/**
 * Returns from a call or a creation to the frame that made it, whose stack already has the place of the result.
 *
 * @param given - the gas that it was given
 * @param left - the gas that it returns
 * @param least - the least gas with which it would have ended in the same way
 */
export function finishCall(frame: usize, end: u32, given: i64, left: i64, least: i64): void {
  const out: usize = <usize>load<u32>(frame, Frame.MEMORY) + load<u32>(frame, Frame.OUT);
  const most = load<u32>(frame, Frame.OUT_BYTES);
  const bytes = returnedBytes < most ? returnedBytes : most;
  if (bytes != 0) memory.copy(out, RETURNED, bytes);
  setWord(load<u32>(frame, Frame.SP) - 32, end == SUCCESS ? 1 : 0);
  finishGas(frame, end, given, left, least);
}

export function finishGas(frame: usize, end: u32, given: i64, left: i64, least: i64): void {
  store<i64>(frame, load<i64>(frame, Frame.GAS) + left, Frame.GAS);
  let needs = least;
  if (end != SUCCESS && end != REVERT) {
    // It uses all the gas that it gets.
    if (load<u32>(frame, Frame.IS_CLIPPED) != 0) noteSensitive();
    needs = given;
  }
  needs -= load<i64>(frame, Frame.CALL_STIPEND);
  // A frame with x gas can give x - floor(x / 64): finds the least x for which that is enough.
  const total = needs > 0 ? needs + (needs - 1) / 63 : 0;
  if (total > 0) noteBounded();
  require(frame, load<i64>(frame, Frame.CALL_SPENT) + total);
}

export function require(frame: usize, gas: i64): void {
  if (gas > load<i64>(frame, Frame.REQUIRED)) store<i64>(frame, gas, Frame.REQUIRED);
}
