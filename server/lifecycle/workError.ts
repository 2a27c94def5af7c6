/** Errors for the operator. */
import {describeHolder} from "./control/storeHolder.ts";

/** `message` is for the operator. */
export class WorkError extends Error {
  override readonly name = "WorkError";
}

/** A service did not stop in time: a thread may hang, so that the process cannot end normally. */
export class StillOpen extends WorkError {}

/** The settings can never work: the exit code is that of an invalid flag. */
export class SettingsError extends WorkError {}

/** The operator stopped a service before it had started. Nothing failed. */
export class StoppedEarly extends Error {
  override readonly name = "StoppedEarly";
}

/** @returns a WorkError that says why a store cannot be opened; an error without a code is returned as it is */
export function openFailed(directory: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const message = (error as Error).message;
  const hint =
    code === "STORE_MISSING"
      ? ". Make one with `proofd import`, or with `proofd serve` and --demo, --diffs, --l2 or --feed"
      : ` (${code})`;
  const who =
    code === "STORE_IN_USE"
      ? `: ${describeHolder(directory)}. Stop that process, or name another folder with --db`
      : "";
  return storeFailed(code, `cannot open the store in ${directory}: ${message}${hint}${who}`, error);
}

/** An error for a store that a command cannot use. @param code - of `cause` */
export function storeFailed(code: string, message: string, cause: unknown): WorkError {
  // The flags name no store, or one of another format, chain or suite.
  const Kind = code === "FORMAT_MISMATCH" || code === "STORE_MISSING" ? SettingsError : WorkError;
  return new Kind(message, {cause});
}

/** The string code of a store error or of a system error such as EACCES. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
