/** Opens and closes the store of a command. */

import {ControlServer, type OrderListener} from "../../server/control/controlServer.ts";
import {type PoolOptions, ProofPool} from "../../workers/engine.ts";
import {requireDescriptors} from "../descriptors.ts";
import {ExitCode} from "../exitCode.ts";
import {WorkError} from "../workError.ts";
import {openFailed} from "./openFailure.ts";

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
