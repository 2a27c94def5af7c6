/** Opens and closes the store of a command. Tells the operator why a store cannot be opened. */

import {ControlServer, type OrderListener} from "../../server/control/controlServer.ts";
import {type PoolOptions, ProofPool} from "../../workers/pool/pool.ts";
import {requireDescriptors} from "../descriptors.ts";
import {ExitCode} from "../exitCode.ts";
import {WorkError} from "../workError.ts";

/** Bytes of decoded pages that the importing thread keeps if the command has no flag for them. */
export const DEFAULT_CACHE_BYTES = 64 * 2 ** 20;

/** @throws WorkError that names the folder. If there is no store, it also names the commands that make one */
export async function openStore(options: PoolOptions): Promise<ProofPool> {
  requireDescriptors(options.workers + (options.estimates?.workers ?? 0));
  try {
    return await ProofPool.open(options);
  } catch (error) {
    throw openFailed(options.directory, error);
  }
}

/** @returns a WorkError for the operator, or `error` itself if it has no code and so was not expected */
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

/**
 * Opens a store and runs a command's `work` on it. Meanwhile `proofd finalize` and `proofd rollback` can reach the store.
 * If the work fails, a store that was made for it and has no block is removed.
 *
 * @param work - returns the command's exit code
 */
export async function useStore(
  options: PoolOptions,
  onOrder: OrderListener,
  work: (pool: ProofPool) => Promise<number>,
): Promise<number> {
  const pool = await openStore(options);
  let control: ControlServer | undefined;
  let code: number = ExitCode.FAILED;
  try {
    control = await startControl(options.directory, pool, onOrder);
    code = await work(pool);
    return code;
  } finally {
    await control?.stop();
    await (code === ExitCode.OK ? pool.close() : pool.discard());
    await control?.close();
  }
}

async function startControl(
  directory: string,
  pool: ProofPool,
  onOrder: OrderListener,
): Promise<ControlServer> {
  try {
    return await ControlServer.start(directory, pool, onOrder);
  } catch (error) {
    const reason = (error as Error).message;
    throw new WorkError(`cannot take orders for the store in ${directory}: ${reason}`, {cause: error});
  }
}

/** The string code of a store failure or of a system error such as EACCES. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
