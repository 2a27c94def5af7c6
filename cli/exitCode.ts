/** Exit codes, and the signals that end a command. */

export const ExitCode = {
  OK: 0,
  /** The work failed, for example: a bad line, damage found, an address in use. */
  FAILED: 1,
  /** Invalid flags, files or store: a restart does not help. */
  USAGE: 2,
  /** The load generator was the bottleneck, so the load does not measure the server. */
  GENERATOR_WAS_LIMIT: 3,
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

/** Ends the process even if a thread hangs in a system call, where process.exit would wait. Synced data is safe. */
export function endByForce(): never {
  process.kill(process.pid, "SIGKILL");
  // The kernel does not deliver the signal to the first process of a container.
  process.abort();
}

/** Called before a command's work starts, so that no signal is missed. A second signal ends the process at once. */
export function watchSignals(): Stopping {
  const stopping = new AbortController();
  const handle = (signal: StopSignal): void => {
    if (!stopping.signal.aborted) {
      stopping.abort(signal);
      return;
    }
    // By the signal itself, because process.exit waits for hanging threads.
    process.off(signal, handle);
    process.kill(process.pid, signal);
    // The kernel does not deliver it to the first process of a container.
    process.exit(exitCodeOf(signal));
  };
  process.on("SIGINT", handle);
  process.on("SIGTERM", handle);
  return stopping.signal;
}
