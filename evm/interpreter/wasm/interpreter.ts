/**
 * Executes opcodes in frames of any depth until the run ends or the steps are used up. All are in one switch: with
 * arithmetic in a separate function, a mix of arithmetic and memory opcodes took 6 % more machine instructions, and LT
 * with ISZERO 19 % more.
 */
import {keccak256} from "../../../storage/hash/wasm/keccak";
import * as Account from "./accounts";
import {codeEntry, isEmpty} from "./accounts";
import {access, accessed, expandFor, setAddress} from "./calling";
import {startCall} from "./calls";
import {CODE_AT, CODE_BYTES, jumpsOf} from "./codes";
import {startCreate} from "./creations";
import {destroy} from "./destruction";
import {addModulo, divide, divideSigned, multiplyModulo, power, remainder, remainderSigned} from "./division";
import {endFrame} from "./frameEnds";
import * as Frame from "./frames";
import {current, expand} from "./frames";
import {hostReadBlockHash, IO_OUT} from "./host";
import {setTransient, warmSlot} from "./journal";
import * as Layout from "./layout";
import {addLog} from "./logs";
import * as Params from "./params";
import {returnedBytes} from "./returned";
import {awaited, noteSensitive, takeWork} from "./run";
import * as Slot from "./slots";
import {slotAt, transientAt} from "./slots";
import {writeSlot} from "./storage";
import * as Words from "./words";

export const BLOB_COUNT: usize = Layout.PARAMS + 0x100;

const HASH: usize = Layout.SCRATCH + 2560;
/** Blocks that BLOCKHASH can reach. */
const RECENT_BLOCKS: u64 = 256;
/** Steps of a host call. A hashed word counts as 16 steps, a copied one as an eighth. */
const HOST_STEPS: i32 = 64;

export const PAUSED: u32 = 0;
export const ENDED: u32 = 1;
/** For a precompile (run.ts). */
export const WAITING: u32 = 2;

/** @returns PAUSED, ENDED or WAITING */
export function execute(budget: i32): u32 {
  let steps = budget;
  while (true) {
    if (awaited != 0) return WAITING;
    const frame = current;
    let ip: usize = load<u32>(frame, Frame.IP);
    let sp: usize = load<u32>(frame, Frame.SP);
    let gas = load<i64>(frame, Frame.GAS);
    let end: u32 = Layout.RUNNING;
    let out: usize = 0;
    let outBytes: u32 = 0;
    const base: usize = load<u32>(frame, Frame.STACK_BASE);
    const mem: usize = load<u32>(frame, Frame.MEMORY);
    while (true) {
      if (--steps < 0) {
        store<u32>(frame, <u32>ip, Frame.IP);
        store<u32>(frame, <u32>sp, Frame.SP);
        store<i64>(frame, gas, Frame.GAS);
        return PAUSED;
      }
      const opcode: u32 = load<u8>(ip);
      const info = load<u64>(Layout.OPCODES + ((<usize>opcode) << 3));
      if (<u32>(sp - base) - <u32>((info >> 16) & 0xffff) > <u32>((info >> 32) & 0xffff)) {
        const least = <u32>((info >> 16) & 0xffff);
        if (least == 0xffff) end = Layout.INVALID_OPCODE;
        else end = <u32>(sp - base) < least ? Layout.STACK_UNDERFLOW : Layout.STACK_OVERFLOW;
        break;
      }
      gas -= <i64>(info & 0xffff);
      if (gas < 0) {
        end = Layout.OUT_OF_GAS;
        break;
      }
      ip++;
      switch (opcode) {
        case 0x00: // STOP
          end = Layout.SUCCESS;
          break;
        case 0x01: // ADD
          sp -= 32;
          Words.add(sp - 32, sp, sp - 32);
          continue;
        case 0x02: // MUL
          sp -= 32;
          Words.multiply(sp - 32, sp, sp - 32);
          continue;
        case 0x03: // SUB
          sp -= 32;
          Words.subtract(sp - 32, sp, sp - 32);
          continue;
        case 0x04: // DIV
          sp -= 32;
          divide(sp - 32, sp, sp - 32);
          continue;
        case 0x05: // SDIV
        case 0x06: // MOD
        case 0x07: // SMOD
          sp -= 32;
          if (opcode == 0x05) divideSigned(sp - 32, sp, sp - 32);
          else if (opcode == 0x06) remainder(sp - 32, sp, sp - 32);
          else remainderSigned(sp - 32, sp, sp - 32);
          continue;
        case 0x08: // ADDMOD
        case 0x09: // MULMOD
          sp -= 64;
          if (opcode == 0x08) addModulo(sp - 32, sp + 32, sp, sp - 32);
          else multiplyModulo(sp - 32, sp + 32, sp, sp - 32);
          continue;
        case 0x0a: {
          // EXP
          sp -= 32;
          const bytes = (Words.bitLength(sp - 32) + 7) >> 3;
          gas -= Params.EXPONENT_BYTE_GAS * bytes;
          if (gas < 0) break;
          steps -= bytes * 8;
          power(sp - 32, sp, sp - 32);
          continue;
        }
        case 0x0b: // SIGNEXTEND
          sp -= 32;
          if (Words.isShort(sp) && load<u64>(sp) < 31) Words.extendSign(sp - 32, sp - 32, <u32>load<u64>(sp));
          continue;
        case 0x10: // LT
          sp -= 32;
          Words.setWord(sp - 32, u64(Words.isLess(sp, sp - 32)));
          continue;
        case 0x11: // GT
          sp -= 32;
          Words.setWord(sp - 32, u64(Words.isLess(sp - 32, sp)));
          continue;
        case 0x12: // SLT
        case 0x13: {
          // SGT
          sp -= 32;
          const isLess = opcode == 0x12 ? Words.isSignedLess(sp, sp - 32) : Words.isSignedLess(sp - 32, sp);
          Words.setWord(sp - 32, u64(isLess));
          continue;
        }
        case 0x14: // EQ
          sp -= 32;
          Words.setWord(sp - 32, u64(Words.sameWord(sp, sp - 32)));
          continue;
        case 0x15: // ISZERO
          Words.setWord(sp - 32, u64(Words.isZero(sp - 32)));
          continue;
        case 0x16: // AND
          sp -= 32;
          v128.store(sp - 32, v128.and(v128.load(sp), v128.load(sp - 32)));
          v128.store(sp - 32, v128.and(v128.load(sp, 16), v128.load(sp - 32, 16)), 16);
          continue;
        case 0x17: // OR
          sp -= 32;
          v128.store(sp - 32, v128.or(v128.load(sp), v128.load(sp - 32)));
          v128.store(sp - 32, v128.or(v128.load(sp, 16), v128.load(sp - 32, 16)), 16);
          continue;
        case 0x18: // XOR
          sp -= 32;
          v128.store(sp - 32, v128.xor(v128.load(sp), v128.load(sp - 32)));
          v128.store(sp - 32, v128.xor(v128.load(sp, 16), v128.load(sp - 32, 16)), 16);
          continue;
        case 0x19: // NOT
          v128.store(sp - 32, v128.not(v128.load(sp - 32)));
          v128.store(sp - 32, v128.not(v128.load(sp - 32, 16)), 16);
          continue;
        case 0x1a: {
          // BYTE
          sp -= 32;
          const at = load<u64>(sp);
          Words.setWord(sp - 32, Words.isShort(sp) && at < 32 ? load<u8>(sp - 32 + 31 - <usize>at) : 0);
          continue;
        }
        case 0x1b: // SHL
          sp -= 32;
          if (Words.isShort(sp) && load<u64>(sp) < 256) Words.shiftLeft(sp - 32, sp - 32, <u32>load<u64>(sp));
          else Words.setWord(sp - 32, 0);
          continue;
        case 0x1c: // SHR
          sp -= 32;
          if (Words.isShort(sp) && load<u64>(sp) < 256)
            Words.shiftRight(sp - 32, sp - 32, <u32>load<u64>(sp), 0);
          else Words.setWord(sp - 32, 0);
          continue;
        case 0x1d: {
          // SAR
          sp -= 32;
          const sign = load<i64>(sp - 32, 24) >> 63;
          if (Words.isShort(sp) && load<u64>(sp) < 256)
            Words.shiftRight(sp - 32, sp - 32, <u32>load<u64>(sp), sign);
          else {
            v128.store(sp - 32, i64x2.splat(sign));
            v128.store(sp - 32, i64x2.splat(sign), 16);
          }
          continue;
        }
        case 0x1e: // CLZ
          Words.setWord(sp - 32, 256 - Words.bitLength(sp - 32));
          continue;
        case 0x20: {
          // KECCAK256
          sp -= 32;
          gas = expandFor(frame, sp, sp - 32, gas);
          if (gas < 0) break;
          const bytes = load<u32>(sp - 32);
          const words = (<i64>bytes + 31) >> 5;
          gas -= Params.HASH_WORD_GAS * words;
          if (gas < 0) break;
          steps -= (<i32>words) << 4;
          keccak256(bytes == 0 ? mem : mem + load<u32>(sp), bytes, HASH);
          Words.loadBytes(sp - 32, HASH);
          continue;
        }
        case 0x30: // ADDRESS
          setAddress(sp, load<u32>(frame, Frame.ACCOUNT));
          sp += 32;
          continue;
        case 0x31: // BALANCE
        case 0x3b: // EXTCODESIZE
        case 0x3f: {
          // EXTCODEHASH
          gas = access(sp - 32, gas);
          steps -= HOST_STEPS;
          if (gas < 0) break;
          if (opcode == 0x31) Words.copyWord(sp - 32, accessed + Account.BALANCE);
          else if (opcode == 0x3b) Words.setWord(sp - 32, load<u32>(codeEntry(accessed), CODE_BYTES));
          else if (isEmpty(accessed)) Words.setWord(sp - 32, 0);
          else Words.loadBytes(sp - 32, accessed + Account.CODE_HASH);
          continue;
        }
        case 0x33: // CALLER
        case 0x34: // CALLVALUE
          Words.copyWord(sp, frame + (opcode == 0x33 ? Frame.CALLER : Frame.VALUE));
          sp += 32;
          continue;
        case 0x35: {
          // CALLDATALOAD
          const input: usize = load<u32>(frame, Frame.INPUT);
          const bytes = load<u32>(frame, Frame.INPUT_BYTES);
          const at = Words.toU32(sp - 32);
          if (<u64>at + 32 <= bytes) Words.loadBytes(sp - 32, input + at);
          else {
            copyPadded(HASH, input, bytes, at, 32);
            Words.loadBytes(sp - 32, HASH);
          }
          continue;
        }
        case 0x37: // CALLDATACOPY
        case 0x39: // CODECOPY
        case 0x3c: // EXTCODECOPY
        case 0x3e: // RETURNDATACOPY
        case 0x5e: {
          // MCOPY
          sp -= opcode == 0x3c ? 128 : 96;
          // To sp + 64, from sp + 32, bytes sp. The account of EXTCODECOPY is sp + 96.
          if (opcode == 0x3e && !isWithin(sp + 32, sp, returnedBytes)) {
            end = Layout.OUT_OF_RANGE;
            break;
          }
          gas = expandFor(frame, sp + 64, sp, gas);
          if (opcode == 0x5e && gas >= 0) gas = expandFor(frame, sp + 32, sp, gas);
          if (gas < 0) break;
          const bytes = load<u32>(sp);
          const words = (<i64>bytes + 31) >> 5;
          gas -= Params.COPY_WORD_GAS * words;
          if (opcode == 0x3c) {
            gas = access(sp + 96, gas);
            steps -= HOST_STEPS;
          }
          if (gas < 0) break;
          if (bytes == 0) continue;
          steps -= <i32>words >> 3;
          let source = Layout.RETURNED;
          let sourceBytes = returnedBytes;
          if (opcode == 0x5e) {
            source = mem;
            sourceBytes = load<u32>(frame, Frame.MEMORY_BYTES);
          } else if (opcode == 0x3c) {
            const code = codeEntry(accessed);
            source = load<u32>(code, CODE_AT);
            sourceBytes = load<u32>(code, CODE_BYTES);
          } else if (opcode != 0x3e) {
            source = load<u32>(frame + (opcode == 0x37 ? Frame.INPUT : Frame.CODE));
            sourceBytes = load<u32>(frame + (opcode == 0x37 ? Frame.INPUT_BYTES : Frame.CODE_LENGTH));
          }
          copyPadded(mem + load<u32>(sp + 64), source, sourceBytes, Words.toU32(sp + 32), bytes);
          continue;
        }
        case 0x36: // CALLDATASIZE
        case 0x38: // CODESIZE
        case 0x3d: // RETURNDATASIZE
        case 0x59: // MSIZE
          if (opcode == 0x36) Words.setWord(sp, load<u32>(frame, Frame.INPUT_BYTES));
          else if (opcode == 0x3d) Words.setWord(sp, returnedBytes);
          else
            Words.setWord(sp, load<u32>(frame + (opcode == 0x38 ? Frame.CODE_LENGTH : Frame.MEMORY_BYTES)));
          sp += 32;
          continue;
        case 0x40: {
          // BLOCKHASH
          const number = load<u64>(Layout.NUMBER);
          const asked = load<u64>(sp - 32);
          if (Words.isShort(sp - 32) && asked < number && number - asked <= RECENT_BLOCKS) {
            steps -= HOST_STEPS;
            hostReadBlockHash(asked);
            Words.loadBytes(sp - 32, IO_OUT);
          } else Words.setWord(sp - 32, 0);
          continue;
        }
        case 0x32: // ORIGIN
        case 0x3a: // GASPRICE
        case 0x41: // COINBASE
        case 0x42: // TIMESTAMP
        case 0x43: // NUMBER
        case 0x44: // PREVRANDAO, before paris DIFFICULTY
        case 0x45: // GASLIMIT
        case 0x46: // CHAINID
        case 0x48: // BASEFEE
        case 0x4a: // BLOBBASEFEE
          // Their values are in the order of opcodes (layout.ts).
          Words.copyWord(sp, Layout.BLOCK + 32 * (<usize>opcode - 0x41));
          sp += 32;
          continue;
        case 0x47: // SELFBALANCE
          Words.copyWord(sp, <usize>load<u32>(frame, Frame.ACCOUNT) + Account.BALANCE);
          sp += 32;
          continue;
        case 0x49: {
          // BLOBHASH
          const at = Words.toU32(sp - 32);
          if (at < load<u32>(BLOB_COUNT)) Words.loadBytes(sp - 32, Layout.BLOBS + 32 * at);
          else Words.setWord(sp - 32, 0);
          continue;
        }
        case 0x50: // POP
          sp -= 32;
          continue;
        case 0x51: {
          // MLOAD
          const at = Words.toU32(sp - 32);
          if (<u64>at + 32 > load<u32>(frame, Frame.MEMORY_BYTES)) gas = expand(frame, <u64>at + 32, gas);
          if (gas < 0) break;
          Words.loadBytes(sp - 32, mem + at);
          continue;
        }
        case 0x52: // MSTORE
        case 0x53: {
          // MSTORE8
          sp -= 64;
          const at = Words.toU32(sp + 32);
          const memoryEnd = <u64>at + (opcode == 0x52 ? 32 : 1);
          if (memoryEnd > load<u32>(frame, Frame.MEMORY_BYTES)) gas = expand(frame, memoryEnd, gas);
          if (gas < 0) break;
          if (opcode == 0x52) Words.storeBytes(mem + at, sp);
          else store<u8>(mem + at, load<u8>(sp));
          continue;
        }
        case 0x54: {
          // SLOAD
          const slot = slotAt(load<u32>(frame, Frame.ACCOUNT), sp - 32, gas);
          if (slot == 0) {
            end = Layout.OUT_OF_GAS;
            break;
          }
          if (warmSlot(slot)) {
            gas -= Params.COLD_SLOT_GAS;
            steps -= HOST_STEPS;
          } else gas -= Params.WARM_GAS;
          if (gas < 0) break;
          Words.copyWord(sp - 32, slot + Slot.VALUE);
          continue;
        }
        case 0x55: // SSTORE
          sp -= 64;
          steps -= HOST_STEPS;
          end = writeSlot(frame, sp + 32, sp, gas);
          if (end != Layout.RUNNING) break;
          gas = load<i64>(frame, Frame.GAS);
          continue;
        case 0x56: // JUMP
        case 0x57: {
          // JUMPI
          const at = sp - 32;
          sp = opcode == 0x56 ? at : at - 32;
          if (opcode == 0x57 && Words.isZero(sp)) continue;
          const to = Words.toU32(at);
          if (!isJumpTarget(frame, to)) {
            end = Layout.INVALID_JUMP;
            break;
          }
          ip = <usize>load<u32>(frame, Frame.CODE) + to;
          continue;
        }
        case 0x58: // PC
          Words.setWord(sp, ip - 1 - load<u32>(frame, Frame.CODE));
          sp += 32;
          continue;
        case 0x5a: {
          // GAS
          Words.setWord(sp, gas);
          sp += 32;
          // GAS before a call passes all gas, which is capped at 63/64: the run does not depend on the value.
          const next = <u32>load<u8>(ip);
          if (next != 0xf1 && next != 0xf2 && next != 0xf4 && next != 0xfa) noteSensitive();
          continue;
        }
        case 0x5b: // JUMPDEST
          continue;
        case 0x5c: {
          // TLOAD
          const slot = transientAt(load<u32>(frame, Frame.ACCOUNT), sp - 32, false);
          if (slot == 0) Words.setWord(sp - 32, 0);
          else Words.copyWord(sp - 32, slot + Slot.VALUE);
          continue;
        }
        case 0x5d: // TSTORE
          if (load<u32>(frame, Frame.IS_STATIC) != 0) {
            end = Layout.WRITE_PROTECTION;
            break;
          }
          sp -= 64;
          setTransient(transientAt(load<u32>(frame, Frame.ACCOUNT), sp + 32, true), sp);
          continue;
        case 0x5f: // PUSH0
          Words.setWord(sp, 0);
          sp += 32;
          continue;
        case 0x60: // PUSH1
          Words.setWord(sp, load<u8>(ip));
          ip++;
          sp += 32;
          continue;
        case 0x61: // PUSH2
          Words.setWord(sp, bswap<u16>(load<u16>(ip)));
          ip += 2;
          sp += 32;
          continue;
        case 0x63: // PUSH4
          Words.setWord(sp, bswap<u32>(load<u32>(ip)));
          ip += 4;
          sp += 32;
          continue;
        case 0xa0:
        case 0xa1:
        case 0xa2:
        case 0xa3:
        case 0xa4: {
          // LOG0 to LOG4
          if (load<u32>(frame, Frame.IS_STATIC) != 0) {
            end = Layout.WRITE_PROTECTION;
            break;
          }
          const topics: usize = opcode - 0xa0;
          gas = expandFor(frame, sp - 32, sp - 64, gas);
          if (gas < 0) break;
          const bytes = load<u32>(sp - 64);
          gas -= Params.LOG_BYTE_GAS * <i64>bytes;
          if (gas < 0) break;
          steps -= <i32>(bytes >> 8);
          addLog(
            load<u32>(frame, Frame.ACCOUNT),
            sp - 96,
            topics,
            bytes == 0 ? mem : mem + load<u32>(sp - 32),
            bytes,
          );
          sp -= 32 * (topics + 2);
          continue;
        }
        case 0xf0: // CREATE
        case 0xf5: // CREATE2
        case 0xf1: // CALL
        case 0xf2: // CALLCODE
        case 0xf4: // DELEGATECALL
        case 0xfa: // STATICCALL
          store<u32>(frame, <u32>ip, Frame.IP);
          store<u32>(frame, <u32>sp, Frame.SP);
          store<i64>(frame, gas, Frame.GAS);
          steps -= HOST_STEPS;
          end = opcode == 0xf0 || opcode == 0xf5 ? startCreate(opcode) : startCall(opcode);
          steps -= takeWork();
          break;
        case 0xf3: // RETURN
        case 0xfd: {
          // REVERT
          sp -= 64;
          gas = expandFor(frame, sp + 32, sp, gas);
          if (gas < 0) break;
          outBytes = load<u32>(sp);
          out = outBytes == 0 ? mem : mem + load<u32>(sp + 32);
          end = opcode == 0xf3 ? Layout.SUCCESS : Layout.REVERT;
          break;
        }
        case 0xff: // SELFDESTRUCT
          sp -= 32;
          steps -= HOST_STEPS;
          end = destroy(frame, sp, gas);
          if (end == Layout.SUCCESS) gas = load<i64>(frame, Frame.GAS);
          break;
        default: {
          // OPCODES refuses what is no opcode.
          if (opcode >= 0x90) {
            // SWAP1 to SWAP16
            const other = sp - 32 * (<usize>opcode - 0x8e);
            const low = v128.load(other);
            const high = v128.load(other, 16);
            Words.copyWord(other, sp - 32);
            v128.store(sp - 32, low);
            v128.store(sp - 32, high, 16);
            continue;
          }
          if (opcode >= 0x80) {
            // DUP1 to DUP16
            Words.copyWord(sp, sp - 32 * (<usize>opcode - 0x7f));
            sp += 32;
            continue;
          }
          // PUSH3, PUSH5 to PUSH32
          const bytes: usize = opcode - 0x5f;
          ip += bytes;
          // Loads the 32 bytes up to the end of the push data, and shifts out those before it.
          Words.loadBytes(sp, ip - 32);
          if (bytes != 32) {
            const limb = sp + ((bytes >> 3) << 3);
            const kept: u64 = (bytes & 7) << 3;
            store<u64>(limb, kept == 0 ? 0 : load<u64>(limb) & (((<u64>1) << kept) - 1));
            for (let above = limb + 8; above < sp + 32; above += 8) store<u64>(above, 0);
          }
          sp += 32;
          continue;
        }
      }
      if (gas < 0) end = Layout.OUT_OF_GAS;
      break;
    }
    // A call or a creation has stored the frame. Continue with the current one.
    if (end == Layout.RUNNING) continue;
    store<i64>(frame, gas, Frame.GAS);
    if (endFrame(end, out, outBytes)) return ENDED;
  }
}

/** True if bytes `from` to `from + bytes` lie within `total`. */
function isWithin(from: usize, bytes: usize, total: u32): bool {
  if (!Words.isShort(from) || !Words.isShort(bytes)) return false;
  const at = load<u64>(from);
  const length = load<u64>(bytes);
  return at <= total && length <= <u64>total - at;
}

/** Copies `bytes` bytes from `at` on, as if zeros followed the end of the source. */
function copyPadded(to: usize, source: usize, sourceBytes: u32, at: u32, bytes: u32): void {
  let there: u32 = 0;
  if (at < sourceBytes) {
    there = sourceBytes - at < bytes ? sourceBytes - at : bytes;
    memory.copy(to, source + at, there);
  }
  if (there < bytes) memory.fill(to + there, 0, bytes - there);
}

function isJumpTarget(frame: usize, to: u32): bool {
  if (to >= load<u32>(frame, Frame.CODE_LENGTH)) return false;
  let jumps: usize = load<u32>(frame, Frame.JUMPS);
  if (jumps == 0) {
    jumps = jumpsOf(load<u32>(frame, Frame.CODE_ENTRY));
    store<u32>(frame, <u32>jumps, Frame.JUMPS);
  }
  return ((load<u8>(jumps + (to >> 3)) >> (to & 7)) & 1) != 0;
}
