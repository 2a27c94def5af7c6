/** Work of the main thread. At a yield others may go first (http/intake.ts); a yielded number is extra cost in ms. */
export type Work<Result = void> = Generator<number | undefined, Result, undefined>;
