/** `proofd finalize`: marks blocks as finalized on layer 1, also while another proofd serves the store or imports into it. */
import {NoControl, orderFinalize} from "../../server/control/controlClient.ts";
import type {FinalizeAnswer} from "../../server/control/finalizeOrder.ts";
import {ExitCode} from "../exitCode.ts";
import {WorkError} from "../workError.ts";
import {codeOf, DEFAULT_CACHE_BYTES, openStore} from "./storeOpening.ts";

export interface FinalizeOptions {
  readonly db: string;
  readonly to: number;
}

/** @returns the exit code: OK also where these blocks were finalized before */
export async function runFinalize(options: FinalizeOptions): Promise<number> {
  const answer = (await finalizeHere(options)) ?? (await finalizeThere(options));
  if (!answer.ok) throw new WorkError(`cannot finalize up to block ${options.to}: ${answer.message}`);
  const {before, after} = answer;
  process.stdout.write(
    before.finalized === after.finalized
      ? `nothing changed: blocks up to ${after.finalized} were finalized before\n`
      : `blocks up to ${after.finalized} are finalized; before: ${before.finalized ?? "none"}\n`,
  );
  return ExitCode.OK;
}

/** @returns undefined if another process has the store open */
async function finalizeHere({db, to}: FinalizeOptions): Promise<FinalizeAnswer | undefined> {
  const options = {directory: db, workers: 0, cacheBytes: DEFAULT_CACHE_BYTES, createIfMissing: false};
  const pool = await openStore(options).catch((error: unknown) => {
    if (error instanceof WorkError && codeOf(error.cause) === "STORE_IN_USE") return undefined;
    throw error;
  });
  if (pool === undefined) return undefined;
  try {
    const before = pool.chain.head();
    return {ok: true, before, after: await pool.finalize(to)};
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return {ok: false, message: (error as Error).message};
  } finally {
    await pool.close();
  }
}

async function finalizeThere({db, to}: FinalizeOptions): Promise<FinalizeAnswer> {
  try {
    return await orderFinalize(db, {to});
  } catch (error) {
    if (!(error instanceof NoControl)) throw error;
    throw new WorkError(
      `cannot finalize up to block ${to}: another process has the store in ${db} open and takes no orders (${error.message}). ` +
        "`proofd serve` and `proofd import` take orders once they have opened it. Try again when the other process has ended.",
      {cause: error},
    );
  }
}
