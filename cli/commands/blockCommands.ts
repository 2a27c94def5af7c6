/** `proofd finalize` and `proofd rollback`: executed here, or by the proofd that has the store open. */
import {
  type BlockCommand,
  type CommandKind,
  type ControlAnswer,
  executeCommand,
} from "../../server/lifecycle/control/blockCommand.ts";
import {NoControl, sendCommand} from "../../server/lifecycle/control/controlClient.ts";
import {describeHolder} from "../../server/lifecycle/control/storeHolder.ts";
import {DEFAULT_CACHE_BYTES, openStore} from "../../server/lifecycle/storeOpening.ts";
import {codeOf, openFailed, WorkError} from "../../server/lifecycle/workError.ts";
import {PROOF_AGE_SECONDS} from "../../server/limits.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {ExitCode} from "../exitCode.ts";

const ELSEWHERE = `The removed blocks may still exist elsewhere:
- in caches of GET /v1/proof, for up to ${PROOF_AGE_SECONDS / 60} minutes, unless you purge them
- on replicas (serve --feed): stop each, and run this command on its store
- in the stream of serve --publish and its snapshots, from which new replicas start: delete both, or publishing is refused
`;

const CANNOT: Readonly<Record<CommandKind, string>> = {
  finalize: "cannot finalize up to block",
  rollback: "cannot roll back to block",
};

/** @returns the exit code: OK also if these blocks were finalized already */
export async function runFinalize({db, to}: {readonly db: string; readonly to: number}): Promise<number> {
  const {before, after} = await execute(db, {kind: "finalize", to});
  process.stdout.write(
    before.finalized === after.finalized
      ? `nothing changed: blocks up to ${after.finalized} were finalized already\n`
      : `blocks up to ${after.finalized} are finalized; before: ${before.finalized ?? "none"}\n`,
  );
  return ExitCode.OK;
}

export async function runRollback({
  db,
  to,
  finalized,
}: {
  readonly db: string;
  readonly to: number;
  readonly finalized: boolean;
}): Promise<number> {
  const before = finalized
    ? await removeFinalized(db, to)
    : (await execute(db, {kind: "rollback", to})).before.latest;
  process.stdout.write(`rolled back from block ${before} to block ${to}\n${finalized ? ELSEWHERE : ""}`);
  return ExitCode.OK;
}

/** @returns the newest block before. @throws WorkError, also if another process has the store open */
async function removeFinalized(db: string, to: number): Promise<number | undefined> {
  const options = {directory: db, role: "owner", cacheBytes: DEFAULT_CACHE_BYTES} as const;
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

/** @throws WorkError with the reason why the command fails, or no process accepts it */
async function execute(db: string, command: BlockCommand) {
  const answer = (await executeHere(db, command)) ?? (await sendToOwner(db, command));
  if (answer.ok) return answer;
  throw new WorkError(`${CANNOT[command.kind]} ${command.to}: ${answer.message}`);
}

/** @returns undefined if another process has the store open */
async function executeHere(db: string, command: BlockCommand): Promise<ControlAnswer | undefined> {
  const options = {directory: db, workers: 0, cacheBytes: DEFAULT_CACHE_BYTES, createIfMissing: false};
  const engine = await openStore(options).catch((error: unknown) => {
    if (error instanceof WorkError && codeOf(error.cause) === "STORE_IN_USE") return undefined;
    throw error;
  });
  return engine && executeCommand(engine, command).finally(() => engine.close());
}

async function sendToOwner(db: string, command: BlockCommand): Promise<ControlAnswer> {
  try {
    return await sendCommand(db, command);
  } catch (error) {
    if (!(error instanceof NoControl)) throw error;
    throw new WorkError(
      `${CANNOT[command.kind]} ${command.to}: another process has the store in ${db} open (${describeHolder(db)}) and accepts no commands (${error.message}). ` +
        "`proofd serve` and `proofd import` accept them once they have opened the store. Retry when the other process has ended.",
      {cause: error},
    );
  }
}
