/** CALL, CALLCODE, DELEGATECALL and STATICCALL. */
import * as Account from "./accounts";
import {codeEntry, isEmpty, precompileAt, readsUnpaid} from "./accounts";
import {access, accessed, expandFor, finishCall, pushFrame, setAddress, transfer, useCode} from "./calling";
import {CODE_BYTES, DELEGATE, isDelegation} from "./codes";
import * as Frame from "./frames";
import {current, depth, MAX_DEPTH} from "./frames";
import {journalMark, touch, undoTo} from "./journal";
import {OUT_OF_GAS, RUNNING, SUCCESS, VALUE_OVERFLOW, WRITE_PROTECTION} from "./layout";
import {IDENTITY_GAS, IDENTITY_WORD_GAS, NEW_ACCOUNT_GAS, STIPEND_GAS, VALUE_GAS} from "./params";
import {clearReturned, setReturned} from "./returned";
import {addWork, awaitPrecompile} from "./run";
import {copyWord, isLess, isShort, isZero, setWord} from "./words";

const CALL: u32 = 0xf1;
const CALLCODE: u32 = 0xf2;
const DELEGATECALL: u32 = 0xf4;
const STATICCALL: u32 = 0xfa;

const IDENTITY: u32 = 4;

/** The static gas is paid already. @returns RUNNING to continue, perhaps in a new frame; or how this frame ends */
export function startCall(opcode: u32): u32 {
  const frame = current;
  const sp: usize = load<u32>(frame, Frame.SP);
  const hasValue = opcode == CALL || opcode == CALLCODE;
  const to = sp - 64;
  const value = sp - 96;
  const args = hasValue ? sp - 128 : sp - 96;
  const carriesValue = hasValue && !isZero(value);
  if (opcode == CALL && carriesValue && load<u32>(frame, Frame.IS_STATIC) != 0) return WRITE_PROTECTION;
  let gas = access(to, load<i64>(frame, Frame.GAS));
  if (gas < 0 && !readsUnpaid) return OUT_OF_GAS;
  const target = accessed;
  const precompile = precompileAt(to);
  let code: usize = 0;
  if (precompile == 0) {
    code = codeEntry(target);
    if (isDelegation(code)) {
      const word = code + DELEGATE;
      gas = access(word, gas);
      if (gas < 0 && !readsUnpaid) return OUT_OF_GAS;
      code = precompileAt(word) != 0 ? 0 : codeEntry(accessed);
    }
  }
  if (gas >= 0) gas = expandFor(frame, args, args - 32, gas);
  if (gas >= 0) gas = expandFor(frame, args - 64, args - 96, gas);
  if (gas < 0) return OUT_OF_GAS;
  if (carriesValue) {
    gas -= VALUE_GAS;
    if (opcode == CALL && isEmpty(target)) gas -= NEW_ACCOUNT_GAS;
  }
  if (gas < 0) return OUT_OF_GAS;
  const allowed = gas - gas / 64;
  const wanted = sp - 32;
  const isClipped = !isShort(wanted) || load<u64>(wanted) > <u64>allowed;
  let given = isClipped ? allowed : load<i64>(wanted);
  const spent = load<i64>(frame, Frame.START_GAS) - gas;
  gas -= given;
  const stipend: i64 = carriesValue ? STIPEND_GAS : 0;
  given += stipend;

  const inputBytes = load<u32>(args - 32);
  const input: usize = inputBytes == 0 ? 0 : load<u32>(frame, Frame.MEMORY) + load<u32>(args);
  store<u32>(frame, load<u32>(args - 64), Frame.OUT);
  store<u32>(frame, load<u32>(args - 96), Frame.OUT_BYTES);
  store<i64>(frame, spent, Frame.CALL_SPENT);
  store<i64>(frame, stipend, Frame.CALL_STIPEND);
  store<u32>(frame, isClipped ? 1 : 0, Frame.IS_CLIPPED);
  store<u32>(frame, <u32>(args - 64), Frame.SP);
  store<i64>(frame, gas, Frame.GAS);
  clearReturned();
  const self: usize = load<u32>(frame, Frame.ACCOUNT);
  if (depth() >= MAX_DEPTH || (carriesValue && isLess(self + Account.BALANCE, value))) {
    setWord(args - 96, 0);
    store<i64>(frame, gas + given, Frame.GAS);
    return RUNNING;
  }
  const mark = journalMark();
  if (opcode == CALL || opcode == STATICCALL) touch(target);
  if (opcode == CALL && carriesValue && !transfer(self, target, value)) {
    undoTo(mark);
    finishCall(frame, VALUE_OVERFLOW, given, 0, 0);
    return RUNNING;
  }
  if (precompile == IDENTITY) {
    const words = (<i64>inputBytes + 31) >> 5;
    const price = IDENTITY_GAS + IDENTITY_WORD_GAS * words;
    if (price <= given) {
      // A frame takes 10 ns longer, a call of the host more than that.
      addWork(words >> 3);
      setReturned(input, inputBytes);
      finishCall(frame, SUCCESS, given, given - price, price);
      return RUNNING;
    }
  }
  if (precompile != 0) {
    pushFrame(load<u32>(frame, Frame.MEMORY), mark, given);
    awaitPrecompile(precompile, input, inputBytes);
    return RUNNING;
  }
  if (code == 0 || load<u32>(code, CODE_BYTES) == 0) {
    finishCall(frame, SUCCESS, given, given, 0);
    return RUNNING;
  }
  const arena = <usize>load<u32>(frame, Frame.MEMORY) + load<u32>(frame, Frame.MEMORY_BYTES);
  const child = pushFrame(arena, mark, given);
  useCode(child, code, input, inputBytes);
  if (opcode == DELEGATECALL) {
    store<u32>(child, <u32>self, Frame.ACCOUNT);
    copyWord(child + Frame.CALLER, frame + Frame.CALLER);
    copyWord(child + Frame.VALUE, frame + Frame.VALUE);
  } else {
    store<u32>(child, <u32>(opcode == CALLCODE ? self : target), Frame.ACCOUNT);
    setAddress(child + Frame.CALLER, self);
    if (hasValue) copyWord(child + Frame.VALUE, value);
    if (opcode == STATICCALL) store<u32>(child, 1, Frame.IS_STATIC);
  }
  return RUNNING;
}
