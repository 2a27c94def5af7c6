/** What the host does for the interpreter, while it waits. Each may throw; the run ends then. */
import {IO} from "./layout";

/** IO: in: address (20 bytes). Out: exists u32, has storage u32, nonce u64, balance (word), code hash (32 bytes) from IO_OUT on. */
export declare function hostReadAccount(): void;

/** IO: in: address (20 bytes), slot (32 bytes). Out: value (32 bytes). */
export declare function hostReadSlot(): void;

/** IO: in: code hash (32 bytes). The host reserves the code's place by `reserveCode` and copies it there. */
export declare function hostReadCode(): void;

/** Out: hash (32 bytes). */
export declare function hostReadBlockHash(number: u64): void;

/** Never returns. */
export declare function hostDecline(reason: u32): void;

export const IO_SLOT: usize = IO + 20;
export const IO_OUT: usize = IO + 64;
