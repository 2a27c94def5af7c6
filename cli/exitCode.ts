/** Exit codes, and the signals that end a command. */

export const ExitCode = {
  OK: 0,
  /** The work failed, for example: a bad line, damage found, an address in use. */
  FAILED: 1,
  /** Flags, files or the store can never work together: a restart does not help. */
  USAGE: 2,
} as const;

export type StopSignal = "SIGINT" | "SIGTERM";

/** 128 plus the signal's number, as shells report it. */
export function exitCodeOf(signal: StopSignal): number {
  return signal === "SIGINT" ? 130 : 143;
}

/** `reason` is the signal that came first, undefined until then. */
export interface Stopping extends AbortSignal {
  readonly reason: StopSignal | undefined;
}

/** Called before a command's work begins, so that no signal is missed. A second one ends the process at once. */
export function watchSignals(): Stopping {
  const stopping = new AbortController();
  const handle = (signal: StopSignal): void => {
    if (stopping.signal.aborted) process.exit(exitCodeOf(signal));
    stopping.abort(signal);
  };
  process.on("SIGINT", handle);
  process.on("SIGTERM", handle);
  return stopping.signal;
}
