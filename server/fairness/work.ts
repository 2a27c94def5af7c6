/**
 * Work of the main thread in parts, so that others have their turn in between (http/intake.ts). It yields wherever it may stop for a
 * while: what the part costs besides its own time, in ms, or nothing. A part takes a few tenths of a millisecond at most.
 */
export type Work<Result = void> = Generator<number | undefined, Result, undefined>;
