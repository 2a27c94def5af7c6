/** What is wrong with the folder of a pull, or why the pull stopped. */
export type PulledErrorCode =
  /** There is no folder, no manifest, or nothing to resume. */
  | "NO_PULL"
  /** The folder is in use already, or belongs to another pull. */
  | "OTHER_PULL"
  /** The server has trees of another suite, or none. Nothing was created. */
  | "OTHER_SUITE"
  /** A file does not match the manifest, or a row is invalid. */
  | "DAMAGED"
  /** The pull stopped: `cause` says why. Verified rows stay in the folder, for a resumed pull. */
  | "STOPPED"
  /** As STOPPED, before any row was verified: a folder that was created for the pull is removed. */
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

/** Runs a parser or verifier. @throws PulledError DAMAGED that names the place, for an error of the work */
export function at<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof PulledError || error instanceof TypeError) throw error;
    throw damaged(place, error.message, error);
  }
}

/** Reads or writes a file. @throws PulledError FILE_FAILED that names the file, for an error of the system */
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
