/**
 * Layout of linear memory. All regions are reserved at start; the operating system allocates a page when it is first
 * touched.
 *
 *   0          constants
 *   OPCODES    gas and stack use of each opcode, written by the host
 *   PARAMS     parameters of the fork, values of the block and the transaction
 *   IO         arguments and results of host calls
 *   SCRATCH    digits of long divisions
 *   BLOBS      versioned blob hashes of the transaction
 *   FRAMES     one record per call depth
 *   STACK      stacks of all frames, consecutive
 *   JOURNAL    undo log
 *   LOGS       logs of the transaction
 *   RETURNED   what the last call returned
 *   CODES      cache of codes and their jump destinations
 *   HEAP       accounts, slots, hash tables
 *   ARENA      call data, then the memories of the frames; grows
 *
 * A word is 32 bytes: four u64, lowest first. An address is a word whose last 12 bytes are 0.
 */
export const OPCODES: usize = 0x10000;
export const PARAMS: usize = 0x10800;
export const BLOCK: usize = 0x10c00;
export const IO: usize = 0x11000;
export const SCRATCH: usize = 0x12000;
export const BLOBS: usize = 0x14000;
export const FRAMES: usize = 0x20000;
export const STACK: usize = 0x100000;
export const JOURNAL: usize = 0x2200000;
export const LOGS: usize = 0x6200000;
export const RETURNED: usize = 0x7200000;
export const CODES: usize = 0x8200000;
export const HEAP: usize = 0x10200000;
export const ARENA: usize = 0x18200000;

export const PAGE_BYTES: usize = 0x10000;

/** Values of the transaction and the block: the word at BLOCK + 32 * n is what opcode 0x41 + n pushes. */
export const ORIGIN: usize = BLOCK - 32 * 15;
export const GAS_PRICE: usize = BLOCK - 32 * 7;
export const NUMBER: usize = BLOCK + 32 * 2;

/** How a frame ends. ../ends.ts has the same numbers. */
export const RUNNING: u32 = 0;
export const SUCCESS: u32 = 1;
export const REVERT: u32 = 2;
export const OUT_OF_GAS: u32 = 3;
export const INVALID_OPCODE: u32 = 4;
export const STACK_UNDERFLOW: u32 = 5;
export const STACK_OVERFLOW: u32 = 6;
export const INVALID_JUMP: u32 = 7;
export const OUT_OF_RANGE: u32 = 8;
export const WRITE_PROTECTION: u32 = 9;
export const CODE_STORE_OUT_OF_GAS: u32 = 10;
export const CODE_TOO_LONG: u32 = 11;
export const CODE_STARTS_EF: u32 = 12;
export const INITCODE_TOO_LONG: u32 = 13;
export const COLLISION: u32 = 14;
export const INSUFFICIENT_BALANCE: u32 = 15;
export const VALUE_OVERFLOW: u32 = 16;
export const PRECOMPILE_FAILED: u32 = 17;

/** Which region is too small for a run. ../ends.ts has the same numbers. */
export const DECLINE_MEMORY: u32 = 1;
export const DECLINE_JOURNAL: u32 = 2;
export const DECLINE_LOGS: u32 = 3;
export const DECLINE_CODES: u32 = 4;
export const DECLINE_STATE: u32 = 5;
export const DECLINE_RETURNED: u32 = 6;
