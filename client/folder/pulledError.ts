/** What is wrong with a folder of a pull, or why the pull stopped. */

export type PulledErrorCode =
  /** There is no folder, no manifest, or no pull to resume. */
  | "NO_PULL"
  /** The folder is in use already, or belongs to another pull. */
  | "OTHER_PULL"
  /** The server has other trees than those of the suite that was asked for, or none. Nothing was made. */
  | "OTHER_SUITE"
  /** A file is not what the manifest says, or a row is not what its table says. */
  | "DAMAGED"
  /** The pull stopped: `cause` says why. What was verified stays in the folder, for a resumed pull. */
  | "STOPPED"
  /** As STOPPED, before anything was verified: no folder was made, or an empty one is empty again. */
  | "NOTHING_PULLED"
  /** A file cannot be read or written. */
  | "FILE_FAILED";

/** Match `code`; the message names the file, and the row where there is one. */
export class PulledError extends Error {
  override readonly name = "PulledError";

  constructor(
    readonly code: PulledErrorCode,
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : {cause});
  }
}

export function damaged(place: string, problem: string, cause?: unknown): PulledError {
  return new PulledError("DAMAGED", `${place}: ${problem}`, cause);
}

/** Runs what reads text or bytes. @throws PulledError DAMAGED that names the place, for what the work refuses */
export function at<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof PulledError || error instanceof TypeError) throw error;
    throw damaged(place, error.message, error);
  }
}

/** Runs what reads or writes a file. @throws PulledError FILE_FAILED that names the file, for an error of the system */
export function withFile<Result>(path: string, verb: "read" | "write", work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw nameFile(path, verb, error);
  }
}

export function nameFile(path: string, verb: "read" | "write", error: unknown): unknown {
  const {code, message} = error as NodeJS.ErrnoException;
  if (error instanceof PulledError || typeof code !== "string") return error;
  return new PulledError("FILE_FAILED", `cannot ${verb} ${path}: ${message}`, error);
}
