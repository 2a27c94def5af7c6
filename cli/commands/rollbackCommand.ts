/**
 * `proofd rollback`: removes blocks. Unfinalized ones also while another proofd serves the store or imports into it.
 */
import {DEFAULT_CACHE_BYTES} from "../../server/lifecycle/storeOpening.ts";
import {codeOf, openFailed, WorkError} from "../../server/lifecycle/workError.ts";
import {PROOF_AGE_SECONDS} from "../../server/limits.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {ExitCode} from "../exitCode.ts";
import {giveOrder} from "./storeOrder.ts";

const ELSEWHERE = `Elsewhere the removed blocks may still be:
- in caches of GET /v1/proof, for up to ${PROOF_AGE_SECONDS / 60} minutes, unless you empty them
- on replicas (serve --feed): stop each, and run this command on its store
- in the stream of serve --publish and its snapshots, which make new replicas: remove both, or the publisher is refused
`;

interface RollbackOptions {
  readonly db: string;
  readonly to: number;
  readonly finalized: boolean;
}

export async function runRollback({db, to, finalized}: RollbackOptions): Promise<number> {
  const before = finalized
    ? await removeFinalized(db, to)
    : (await giveOrder(db, {kind: "rollback", to})).before.latest;
  process.stdout.write(`rolled back from block ${before} to block ${to}\n${finalized ? ELSEWHERE : ""}`);
  return ExitCode.OK;
}

/** @returns the newest block before. @throws WorkError, also if another process has the store open */
async function removeFinalized(db: string, to: number): Promise<number | undefined> {
  const options = {
    directory: db,
    role: "owner",
    cacheBytes: DEFAULT_CACHE_BYTES,
  } as const;
  const store = await StateStore.open(options).catch((error: unknown) => {
    throw openFailed(db, error);
  });
  try {
    const latest = await store.reader.latest();
    await store.rollbackFinalized(to);
    return latest;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new WorkError(`cannot roll back to block ${to}: ${(error as Error).message}`, {cause: error});
  } finally {
    await store.close();
  }
}
