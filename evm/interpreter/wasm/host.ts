/** Functions of the host. If one throws, the run ends. */
import {IO} from "./layout";

/** In, at IO: address 20. Out, at IO_OUT: exists u32, has storage u32, nonce u64, balance (word), code hash 32. */
export declare function hostReadAccount(): void;

/** In: address 20 at IO, slot 32 at IO_SLOT. Out, at IO_OUT: value 32. */
export declare function hostReadSlot(): void;

/** In, at IO: code hash 32. The host copies the code to where `reserveCode` says, and calls `finishCode`. */
export declare function hostReadCode(): void;

/** Out, at IO_OUT: hash 32. */
export declare function hostReadBlockHash(number: u64): void;

/** Never returns. */
export declare function hostDecline(reason: u32): void;

export const IO_SLOT: usize = IO + 20;
export const IO_OUT: usize = IO + 64;
