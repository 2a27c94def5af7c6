/** CREATE, CREATE2 and creation transactions. */
import {keccak256} from "../../../storage/hash/wasm/keccak";
import * as Account from "./accounts";
import {accountAt, hasNoCode} from "./accounts";
import {expandFor, finishGas, pushFrame, setAddress, transfer} from "./calling";
import {AFTER_CODE, BEFORE_CODE, find, findJumps, finishCode, jumpBytes, reserveCode} from "./codes";
import * as Frame from "./frames";
import {current, depth, MAX_DEPTH, reach} from "./frames";
import {journalMark, markCreated, setCode, setNonce, touch, undoTo, warmAccount} from "./journal";
import * as Layout from "./layout";
import * as Params from "./params";
import {clearReturned} from "./returned";
import {addWork} from "./run";
import {copyWord, isLess, isZero, loadBytes, setWord, storeAddress, storeBytes} from "./words";

export const CREATE2: u32 = 0xf5;

/** EIP-2681. */
const MAX_NONCE: u64 = 0xffffffffffffffff;

/** Preimage of a new address. */
const PREIMAGE: usize = Layout.SCRATCH + 2048;
const HASH: usize = Layout.SCRATCH + 2176;
const NEW_ADDRESS: usize = Layout.SCRATCH + 2208;
const VALUE_COPY: usize = Layout.SCRATCH + 2240;

/** Starts CREATE or CREATE2. The static gas of the opcode is paid already. @returns as startCall */
export function startCreate(opcode: u32): u32 {
  const frame = current;
  if (load<u32>(frame, Frame.IS_STATIC) != 0) return Layout.WRITE_PROTECTION;
  const sp: usize = load<u32>(frame, Frame.SP);
  const value = sp - 32;
  const items: usize = opcode == CREATE2 ? 4 : 3;
  const result = sp - 32 * items;
  let gas = expandFor(frame, sp - 64, sp - 96, load<i64>(frame, Frame.GAS));
  if (gas < 0) return Layout.OUT_OF_GAS;
  const bytes = load<u32>(sp - 96);
  const mostBytes = Params.param(Params.MAX_INITCODE_BYTES);
  if (mostBytes != 0 && bytes > mostBytes) return Layout.INITCODE_TOO_LONG;
  const words = (<i64>bytes + 31) >> 5;
  gas -= words * Params.param(Params.INITCODE_WORD_GAS);
  if (opcode == CREATE2) gas -= words * Params.HASH_WORD_GAS;
  if (gas < 0) return Layout.OUT_OF_GAS;
  // Each word is copied and searched for jump destinations; CREATE2 also hashes it.
  addWork(opcode == CREATE2 ? words << 4 : words << 1);
  const spent = load<i64>(frame, Frame.START_GAS) - gas;
  const self: usize = load<u32>(frame, Frame.ACCOUNT);
  const initcode: usize = bytes == 0 ? 0 : <usize>load<u32>(frame, Frame.MEMORY) + load<u32>(sp - 64);
  clearReturned();
  if (
    depth() >= MAX_DEPTH ||
    isLess(self + Account.BALANCE, value) ||
    load<u64>(self, Account.NONCE) == MAX_NONCE
  ) {
    setWord(result, 0);
    store<u32>(frame, <u32>(result + 32), Frame.SP);
    store<i64>(frame, gas, Frame.GAS);
    return Layout.RUNNING;
  }
  setAddress(NEW_ADDRESS, self);
  if (opcode == CREATE2) nameBySalt(NEW_ADDRESS, sp - 128, initcode, bytes);
  else nameByNonce(NEW_ADDRESS, load<u64>(self, Account.NONCE));
  const given = gas - gas / 64;
  store<i64>(frame, gas - given, Frame.GAS);
  store<u32>(frame, <u32>(result + 32), Frame.SP);
  store<i64>(frame, spent, Frame.CALL_SPENT);
  store<i64>(frame, 0, Frame.CALL_STIPEND);
  store<u32>(frame, 1, Frame.IS_CLIPPED);
  setNonce(self, load<u64>(self, Account.NONCE) + 1);
  const arena = <usize>load<u32>(frame, Frame.MEMORY) + load<u32>(frame, Frame.MEMORY_BYTES);
  const end = enterCreation(self, NEW_ADDRESS, value, initcode, bytes, given, arena);
  if (end == Layout.RUNNING) return Layout.RUNNING;
  setWord(result, 0);
  finishGas(frame, end, given, 0, given);
  return Layout.RUNNING;
}

/** @param word - the new address. @param arena - of free memory. @returns RUNNING, or how the creation ended at once */
export function enterCreation(
  creator: usize,
  word: usize,
  value: usize,
  initcode: usize,
  bytes: u32,
  gas: i64,
  arena: usize,
): u32 {
  copyWord(VALUE_COPY, value);
  const account = accountAt(word);
  warmAccount(account);
  if (
    load<u64>(account, Account.NONCE) != 0 ||
    !hasNoCode(account) ||
    load<u32>(account, Account.HAS_STORAGE) != 0
  )
    return Layout.COLLISION;
  const mark = journalMark();
  markCreated(account);
  touch(account);
  setNonce(account, 1);
  if (!isZero(VALUE_COPY) && !transfer(creator, account, VALUE_COPY)) {
    undoTo(mark);
    return Layout.VALUE_OVERFLOW;
  }
  const code = (arena + BEFORE_CODE + 31) & ~31;
  const jumps = code + bytes + AFTER_CODE;
  const end = jumps + jumpBytes(bytes);
  reach(<u64>end + 64);
  memory.copy(code, initcode, bytes);
  memory.fill(code + bytes, 0, AFTER_CODE);
  findJumps(code, bytes, jumps);
  const child = pushFrame(end, mark, gas);
  store<u32>(child, <u32>code, Frame.CODE);
  store<u32>(child, <u32>code, Frame.IP);
  store<u32>(child, bytes, Frame.CODE_LENGTH);
  store<u32>(child, <u32>jumps, Frame.JUMPS);
  store<u32>(child, <u32>account, Frame.ACCOUNT);
  store<u32>(child, 1, Frame.IS_CREATION);
  setAddress(child + Frame.CALLER, creator);
  copyWord(child + Frame.VALUE, VALUE_COPY);
  return Layout.RUNNING;
}

/** Stores the code that a creation returned. @returns SUCCESS, or why the creation fails */
export function endCreation(frame: usize, out: usize, bytes: u32): u32 {
  if (bytes > Params.MAX_CODE_BYTES) return Layout.CODE_TOO_LONG;
  const refusesEf = Params.param(Params.REFUSES_EF) != 0;
  if (bytes != 0 && refusesEf && load<u8>(out) == 0xef) return Layout.CODE_STARTS_EF;
  const gas = load<i64>(frame, Frame.GAS) - Params.CODE_BYTE_GAS * <i64>bytes;
  if (gas < 0) return Layout.CODE_STORE_OUT_OF_GAS;
  store<i64>(frame, gas, Frame.GAS);
  if (bytes != 0) setCode(load<u32>(frame, Frame.ACCOUNT), keepCode(out, bytes));
  return Layout.SUCCESS;
}

/** Adds code to the cache. @returns its entry */
export function keepCode(from: usize, bytes: u32): usize {
  keccak256(from, bytes, HASH);
  const known = find(HASH);
  if (known != 0) return known;
  copyWord(Layout.IO, HASH);
  memory.copy(reserveCode(bytes), from, bytes);
  return finishCode();
}

/** Address of a creation: replaces the creator's address in `word` by keccak(rlp([creator, nonce])). */
export function nameByNonce(word: usize, nonce: u64): void {
  let nonceBytes: usize = 0;
  if (nonce >= 0x80) nonceBytes = (71 - <usize>clz<u64>(nonce)) >> 3;
  store<u8>(PREIMAGE, <u8>(0xc0 + 22 + nonceBytes));
  store<u8>(PREIMAGE + 1, 0x94);
  storeAddress(PREIMAGE + 2, word);
  if (nonceBytes == 0) store<u8>(PREIMAGE + 22, nonce == 0 ? 0x80 : <u8>nonce);
  else {
    store<u8>(PREIMAGE + 22, <u8>(0x80 + nonceBytes));
    store<u64>(PREIMAGE + 23, bswap<u64>(nonce << (64 - 8 * nonceBytes)));
  }
  keccak256(PREIMAGE, 23 + <u32>nonceBytes, HASH);
  cutAddress(word);
}

/** EIP-1014: keccak(0xff, creator, salt, keccak(initcode)). */
function nameBySalt(word: usize, salt: usize, initcode: usize, bytes: u32): void {
  store<u8>(PREIMAGE, 0xff);
  storeAddress(PREIMAGE + 1, word);
  storeBytes(PREIMAGE + 21, salt);
  keccak256(initcode, bytes, PREIMAGE + 53);
  keccak256(PREIMAGE, 85, HASH);
  cutAddress(word);
}

/** Writes the lower 20 bytes of HASH as a word. */
function cutAddress(word: usize): void {
  loadBytes(word, HASH);
  store<u64>(word, load<u64>(word, 16) & 0xffffffff, 16);
  store<u64>(word, 0, 24);
}
