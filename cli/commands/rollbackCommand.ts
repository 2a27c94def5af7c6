/** `proofd rollback`: removes unfinalized blocks. */
import {ExitCode} from "../exitCode.ts";
import {WorkError} from "../workError.ts";
import {codeOf, DEFAULT_CACHE_BYTES, openStore} from "./storeOpening.ts";

export interface RollbackOptions {
  readonly db: string;
  readonly to: number;
}

/** @returns the exit code */
export async function runRollback(options: RollbackOptions): Promise<number> {
  const pool = await openStore({
    directory: options.db,
    workers: 0,
    cacheBytes: DEFAULT_CACHE_BYTES,
    createIfMissing: false,
  });
  try {
    const before = pool.chain.head().latest;
    await pool.rollback(options.to);
    process.stdout.write(`rolled back from block ${before} to block ${pool.chain.head().latest}\n`);
    return ExitCode.OK;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new WorkError(`cannot roll back to block ${options.to}: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await pool.close();
  }
}
