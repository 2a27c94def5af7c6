/** Frames, one per call depth, and the arena with their memories. */
import {hostDecline} from "./host";
import {ARENA, DECLINE_MEMORY, FRAMES, PAGE_BYTES} from "./layout";
import {MEMORY_SQUARE, MEMORY_WORD_GAS} from "./params";
import {addWork} from "./run";

/** Address of the next opcode. */
export const IP: usize = 0;
/** Stack pointer: address after the highest word. */
export const SP: usize = 4;
export const STACK_BASE: usize = 8;
export const MEMORY: usize = 12;
/** A multiple of 32. */
export const MEMORY_BYTES: usize = 16;
export const CODE: usize = 20;
export const CODE_LENGTH: usize = 24;
/** 0: not looked up yet. */
export const JUMPS: usize = 28;
/** Entry of the code (codes.ts); 0 for initcode. */
export const CODE_ENTRY: usize = 32;
export const INPUT: usize = 36;
export const INPUT_BYTES: usize = 40;
/** The account whose storage is read and written. */
export const ACCOUNT: usize = 44;
export const IS_STATIC: usize = 48;
export const IS_CREATION: usize = 52;
/** What to revert to if the frame fails. */
export const JOURNAL_MARK: usize = 56;
export const LOGS_MARK: usize = 60;
export const REFUND_MARK: usize = 64;
export const GAS: usize = 72;
export const START_GAS: usize = 80;
/** The least gas with which the frame would have run the same so far. */
export const REQUIRED: usize = 88;
export const CALLER: usize = 96;
export const VALUE: usize = 128;
/** Of a call in progress: where its output goes, whether its gas was capped at 63/64, gas before it, stipend. */
export const OUT: usize = 160;
export const OUT_BYTES: usize = 164;
export const IS_CLIPPED: usize = 168;
export const CALL_SPENT: usize = 176;
export const CALL_STIPEND: usize = 184;
export const FRAME_BYTES: usize = 192;

/** A larger memory would cost more than 2^55 gas. */
export const MOST_PRICED: u64 = 0x1fffffffff;

/** The yellow paper's limit. The frame of the transaction has depth 0. */
export const MAX_DEPTH: usize = 1024;

export let current: usize = FRAMES;

export function depth(): usize {
  return (current - FRAMES) / FRAME_BYTES;
}

export function setCurrent(frame: usize): void {
  current = frame;
}

/** End of the allocated part of the arena. */
function arenaEnd(): usize {
  return <usize>memory.size() * PAGE_BYTES;
}

export function reach(end: u64): void {
  if (end <= <u64>arenaEnd()) return;
  // In large steps, because each one may move the whole memory.
  const missing = end - <u64>arenaEnd();
  const pages = <i32>((missing + PAGE_BYTES - 1) / PAGE_BYTES);
  const step = pages > 64 ? pages : 64;
  if (end > 0xffff0000 || (memory.grow(step) < 0 && memory.grow(pages) < 0)) hostDecline(DECLINE_MEMORY);
}

export function arenaBytes(): usize {
  return arenaEnd() - ARENA;
}

/** Total gas of a memory of this size. */
function memoryGas(words: u64): i64 {
  return MEMORY_WORD_GAS * <i64>words + <i64>((words * words) / MEMORY_SQUARE);
}

/** Expands a frame's memory to `end`. @returns the gas left; negative: not enough, and nothing was done */
export function expand(frame: usize, end: u64, gas: i64): i64 {
  const bytes = load<u32>(frame, MEMORY_BYTES);
  if (end <= bytes) return gas;
  if (end > MOST_PRICED) return -1;
  const base: usize = load<u32>(frame, MEMORY);
  const words = (end + 31) >> 5;
  const left = gas - (memoryGas(words) - memoryGas(<u64>bytes >> 5));
  if (left < 0) return -1;
  // The system makes new pages, which takes 1 us for 700 bytes. A call of frames that each expand their memory must pause.
  addWork(<i64>words - (<i64>bytes >> 5));
  reach(<u64>base + (words << 5));
  memory.fill(base + bytes, 0, <usize>(words << 5) - bytes);
  store<u32>(frame, (<u32>words) << 5, MEMORY_BYTES);
  return left;
}
