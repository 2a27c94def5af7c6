/** Exit codes, and the signals that end a command. */

export const ExitCode = {
  OK: 0,
  /** The work failed, for example: a bad line, damage found, no store, an address in use. */
  FAILED: 1,
  USAGE: 2,
} as const;

export type StopSignal = "SIGINT" | "SIGTERM";

/** 128 plus the signal's number, as shells report it. */
export function exitCodeOf(signal: StopSignal): number {
  return signal === "SIGINT" ? 130 : 143;
}

/** Remembers a command's first SIGINT or SIGTERM. Made before the work begins, so that none is missed. */
export class StopWatch {
  /** undefined until a signal arrives. */
  received: StopSignal | undefined;
  readonly signal: Promise<StopSignal>;

  constructor() {
    this.signal = new Promise(resolve => {
      watchSignals(signal => {
        this.received = signal;
        resolve(signal);
      });
    });
  }
}

/**
 * Calls `onFirst` at the first SIGINT or SIGTERM. The second one ends the process at once.
 *
 * @returns a function that removes the handlers
 */
export function watchSignals(onFirst: (signal: StopSignal) => void): () => void {
  let isStopping = false;
  const handle = (signal: StopSignal) => {
    if (isStopping) process.exit(exitCodeOf(signal));
    isStopping = true;
    onFirst(signal);
  };
  process.on("SIGINT", handle);
  process.on("SIGTERM", handle);
  return () => {
    process.off("SIGINT", handle);
    process.off("SIGTERM", handle);
  };
}
