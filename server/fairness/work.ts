/**
 * Work of the main thread with yield points, between which it takes a few tenths of a millisecond at most. At a yield point, other requests
 * may go first (http/intake.ts). A yielded number is extra cost in ms, besides the time that the work took.
 */
export type Work<Result = void> = Generator<number | undefined, Result, undefined>;
