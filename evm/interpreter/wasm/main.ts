/** What the host calls and reads. `npm run build` compiles this folder (AssemblyScript) to interpreter.wasm. */
import * as Account from "./accounts";
import {accountAt, codeEntry, nextTransaction, precompileAt, resetAccounts, sealWritten} from "./accounts";
import {pushFrame, setAddress, transfer, useCode} from "./calling";
import {CODE_BYTES, codeOf, DELEGATE, EMPTY_HASH, isDelegation, resetCodes} from "./codes";
import {enterCreation, keepCode, nameByNonce} from "./creations";
import * as Frame from "./frames";
import {current, FRAME_BYTES, reach, setCurrent} from "./frames";
import {seedHashes} from "./hashing";
import {resetHeap} from "./heap";
import {IO_OUT, IO_SLOT} from "./host";
import {ENDED, execute} from "./interpreter";
import {journalMark, resetJournal, setBalance, setCode, setSlot, touch, undoTo, warmAccount} from "./journal";
import {
  ARENA,
  FRAMES,
  INSUFFICIENT_BALANCE,
  IO,
  LOGS,
  RUNNING,
  SCRATCH,
  STACK,
  SUCCESS,
  VALUE_OVERFLOW,
} from "./layout";
import {cutLogs} from "./logs";
import {clearReturned} from "./returned";
import * as Run from "./run";
import {keepOriginal, resetSlots, sealWrittenSlots, slotAt} from "./slots";
import {isLess, isZero, loadAddress, loadBytes} from "./words";

export {
  ADDRESS,
  BALANCE,
  BASE,
  CODE_HASH,
  codeEntry as code,
  EXISTS,
  HAS_STORAGE,
  NEXT_WRITTEN,
  NONCE,
  STORAGE,
  setReadsUnpaid,
  warmCoinbase,
  written as firstWritten,
} from "./accounts";
/** After `forgetCodes`, call `resetState`. */
export {CODE_AT, CODE_BYTES, codesBytes, finishCode, reserveCode, resetCodes as forgetCodes} from "./codes";
export {endTransaction} from "./destruction";
/** `answerPrecompile(gas)`: call `reserveReturned` first. Gas -1: invalid input; -2: out of gas. */
export {endAwaited as answerPrecompile} from "./frameEnds";
export {arenaBytes} from "./frames";
export {heapBytes} from "./heap";
export {IO_OUT, IO_SLOT} from "./host";
export {BLOB_COUNT} from "./interpreter";
export {
  dropStorage as clearStorage,
  journalMark as checkpoint,
  removeAccount,
  setNonce as writeNonce,
  touch as touchAccount,
  undoTo as undo,
  warmAccount as warm,
  warmSlot,
} from "./journal";
export {BLOBS, BLOCK, GAS_PRICE, IO, LOGS, OPCODES, ORIGIN, PARAMS, RETURNED} from "./layout";
/** `logsEnd`: address after the last log. The first one is at LOGS. */
export {logsMark as logsEnd} from "./logs";
export {reserveReturned, returnedBytes} from "./returned";
/** `isBounded`: with less than `leastGas`, the run may still succeed, but differently. */
export {
  awaited as awaitedPrecompile,
  awaitedBytes as awaitedInputBytes,
  awaitedInput as awaitedInputAt,
  endKind,
  gasLeft,
  isBounded,
  refund,
} from "./run";
export {
  BASE_VALUE,
  isCurrent,
  KEY,
  NEXT_SLOT_WRITTEN,
  SLOT_ACCOUNT,
  VALUE as SLOT_VALUE,
  writtenSlots as firstWrittenSlot,
} from "./slots";

/** Sender and receiver of the message, as words. The value is in IO. */
const SENDER: usize = SCRATCH + 2592;
const RECEIVER: usize = SCRATCH + 2624;
const AMOUNT: usize = SCRATCH + 2656;
/** The address of the creation, as a word. */
export const CREATED_ADDRESS: usize = RECEIVER;

/** Must be called first. @param a, b, c, d - random seeds */
export function start(a: u64, b: u64, c: u64, d: u64): void {
  seedHashes(a, b, c, d);
  resetCodes();
  resetState();
}

export function resetState(): void {
  resetHeap();
  resetAccounts();
  resetSlots();
  resetJournal();
  beginTransaction();
}

export function beginTransaction(): void {
  nextTransaction();
  Run.setRefund(0);
  cutLogs(LOGS);
  clearReturned();
}

/** @returns the entry of the account whose address (20 bytes) is in IO */
export function account(): usize {
  loadAddress(SENDER, IO);
  return accountAt(SENDER);
}

/** @returns the entry of the account's slot whose key (32 bytes) is at IO_SLOT */
export function slot(entry: usize): usize {
  loadBytes(SENDER, IO_SLOT);
  return slotAt(entry, SENDER, i64.MAX_VALUE);
}

/** The word is at IO_OUT. */
export function writeBalance(entry: usize): void {
  setBalance(entry, IO_OUT);
}

/** The code is where `reserveInput` said. */
export function writeCode(entry: usize, bytes: u32): void {
  setCode(entry, bytes == 0 ? codeOf(EMPTY_HASH) : keepCode(ARENA, bytes));
}

/** The value (32 bytes) is at IO_OUT. */
export function writeSlot(entry: usize, at: usize): void {
  loadBytes(AMOUNT, IO_OUT);
  keepOriginal(at);
  setSlot(entry, at, AMOUNT);
}

/** @returns where to write call data or code */
export function reserveInput(bytes: u32): usize {
  reach(<u64>ARENA + bytes + 64);
  return ARENA;
}

/** IO has sender 20 | receiver 20, IO_OUT the value as a word. @param nonce - for the address of a creation */
export function begin(isCreation: bool, gas: i64, nonce: u64, inputBytes: u32): void {
  Run.beginRun();
  Run.awaitPrecompile(0, 0, 0);
  clearReturned();
  const root = FRAMES - FRAME_BYTES;
  memory.fill(root, 0, FRAME_BYTES);
  store<u32>(root, <u32>STACK, Frame.SP);
  setCurrent(root);
  loadAddress(SENDER, IO);
  loadAddress(RECEIVER, IO + 20);
  memory.copy(AMOUNT, IO_OUT, 32);
  const sender = accountAt(SENDER);
  if (isLess(sender + Account.BALANCE, AMOUNT)) return Run.endRun(INSUFFICIENT_BALANCE, 0, 0);
  const mark = journalMark();
  const arena = ARENA + inputBytes;
  if (isCreation) {
    setAddress(RECEIVER, sender);
    nameByNonce(RECEIVER, nonce);
    const end = enterCreation(sender, RECEIVER, AMOUNT, ARENA, inputBytes, gas, arena);
    if (end != RUNNING) Run.endRun(end, 0, 0);
    return;
  }
  const target = accountAt(RECEIVER);
  touch(target);
  if (!isZero(AMOUNT) && !transfer(sender, target, AMOUNT)) {
    undoTo(mark);
    return Run.endRun(VALUE_OVERFLOW, 0, 0);
  }
  const precompile = precompileAt(RECEIVER);
  if (precompile != 0) {
    pushFrame(arena, mark, gas);
    return Run.awaitPrecompile(precompile, ARENA, inputBytes);
  }
  let code = codeEntry(target);
  if (isDelegation(code)) {
    const word = code + DELEGATE;
    const delegate = accountAt(word);
    warmAccount(delegate);
    code = precompileAt(word) != 0 ? codeOf(EMPTY_HASH) : codeEntry(delegate);
  }
  if (load<u32>(code, CODE_BYTES) == 0) return Run.endRun(SUCCESS, gas, 0);
  const frame = pushFrame(arena, mark, gas);
  useCode(frame, code, ARENA, inputBytes);
  store<u32>(frame, <u32>target, Frame.ACCOUNT);
  setAddress(frame + Frame.CALLER, sender);
  memory.copy(frame + Frame.VALUE, AMOUNT, 32);
}

/** @returns 0: paused after about `steps` steps; 1: ended; 2: waiting for the precompile `awaitedPrecompile` */
export function resume(steps: i32): u32 {
  return Run.endKind != RUNNING ? ENDED : execute(steps);
}

export function awaitedGas(): i64 {
  return load<i64>(current, Frame.GAS);
}

/** -1 if code depends on its gas in another way than running out. */
export function leastGas(): i64 {
  return Run.isSensitive ? -1 : Run.leastGas;
}

export function addRefund(gas: i64): void {
  Run.setRefund(Run.refund + gas);
}

/** Makes all current values those before the block. */
export function seal(): void {
  sealWrittenSlots();
  sealWritten();
  resetJournal();
}
