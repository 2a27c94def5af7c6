/** What the operator is told when a command cannot do its work. */
import {describeHolder} from "./control/storeHolder.ts";

/** `message` is for the operator. */
export class WorkError extends Error {
  override readonly name = "WorkError";
}

/** A service did not end in time: a thread may hang, so that the process cannot end as usual. */
export class StillOpen extends WorkError {}

/** What the operator gave can never work, whenever it is tried: the exit code is that of a wrong flag. */
export class SettingsError extends WorkError {}

/** The operator ended a service before it had started: nothing has failed. */
export class StoppedEarly extends Error {
  override readonly name = "StoppedEarly";
}

/** @returns a WorkError that says why a store cannot be opened, or `error` itself if it has no code and so was not expected */
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
  // Flags name no store, or one of another format, chain or suite.
  const Kind = code === "FORMAT_MISMATCH" || code === "STORE_MISSING" ? SettingsError : WorkError;
  return new Kind(message, {cause});
}

/** The string code of a store failure or of a system error such as EACCES. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
