/** What the operator is told when a command cannot do its work. */

/** `message` is for the operator. */
export class WorkError extends Error {
  override readonly name = "WorkError";
}

/** @returns a WorkError that says why a store cannot be opened, or `error` itself if it has no code and so was not expected */
export function openFailed(directory: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const message = (error as Error).message;
  const hint =
    code === "STORE_MISSING"
      ? ". Make one with `proofd import`, or with `proofd serve` and --demo, --diffs or --l2"
      : ` (${code})`;
  return new WorkError(`cannot open the store in ${directory}: ${message}${hint}`, {cause: error});
}

/** The string code of a store failure or of a system error such as EACCES. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
