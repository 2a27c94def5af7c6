/** Opening the store from the command line: what the operator reads when it cannot be opened. */
import {type PoolOptions, ProofPool} from "../../workers/pool.ts";

/** Decoded pages that the importing thread may keep where no flag says otherwise. */
export const DEFAULT_CACHE_BYTES = 64 * 2 ** 20;

/** The work could not be done; `message` is for the operator. */
export class WorkError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkError";
  }
}

/** @throws WorkError that names the folder and, where there is no store, what makes one */
export async function openStore(options: PoolOptions): Promise<ProofPool> {
  try {
    return await ProofPool.open(options);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    const message = (error as Error).message;
    const hint =
      code === "STORE_MISSING"
        ? ": make one with `proofd import`, or serve with --demo or --diffs"
        : ` (${code})`;
    throw new WorkError(`cannot open the store in ${options.directory}: ${message}${hint}`, {cause: error});
  }
}

/** The string code of a store failure or of a system error such as EACCES. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
