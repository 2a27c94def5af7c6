/**
 * Work of the main thread with yield points, a few tenths of a millisecond apart at most, where other requests may go
 * first (http/intake.ts). A yielded number is extra cost in ms.
 */
export type Work<Result = void> = Generator<number | undefined, Result, undefined>;
