/** Carries out an order on a store: in this process, or in the process that has the store open. */
import type {BlockCommand, CommandKind, ControlAnswer} from "../../server/lifecycle/control/blockCommand.ts";
import {NoControl, sendCommand} from "../../server/lifecycle/control/controlClient.ts";
import {describeHolder} from "../../server/lifecycle/control/storeHolder.ts";
import {DEFAULT_CACHE_BYTES, openStore} from "../../server/lifecycle/storeOpening.ts";
import {codeOf, WorkError} from "../../server/lifecycle/workError.ts";

const CANNOT: Readonly<Record<CommandKind, string>> = {
  finalize: "cannot finalize up to block",
  rollback: "cannot roll back to block",
};

type Obeyed = Extract<ControlAnswer, {ok: true}>;

/** @throws WorkError that says why the order is refused, or that no process takes it */
export async function giveOrder(db: string, order: BlockCommand): Promise<Obeyed> {
  const answer = (await obeyHere(db, order)) ?? (await obeyThere(db, order));
  if (answer.ok) return answer;
  throw new WorkError(`${CANNOT[order.kind]} ${order.to}: ${answer.message}`);
}

/** @returns undefined if another process has the store open */
async function obeyHere(db: string, {kind, to}: BlockCommand): Promise<ControlAnswer | undefined> {
  const options = {
    directory: db,
    workers: 0,
    cacheBytes: DEFAULT_CACHE_BYTES,
    createIfMissing: false,
  };
  const engine = await openStore(options).catch((error: unknown) => {
    if (error instanceof WorkError && codeOf(error.cause) === "STORE_IN_USE") return undefined;
    throw error;
  });
  if (engine === undefined) return undefined;
  try {
    const before = engine.chain.head();
    return {ok: true, before, after: await engine[kind](to)};
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return {ok: false, message: (error as Error).message};
  } finally {
    await engine.close();
  }
}

async function obeyThere(db: string, order: BlockCommand): Promise<ControlAnswer> {
  try {
    return await sendCommand(db, order);
  } catch (error) {
    if (!(error instanceof NoControl)) throw error;
    throw new WorkError(
      `${CANNOT[order.kind]} ${order.to}: another process has the store in ${db} open (${describeHolder(db)}) and takes no orders (${error.message}). ` +
        "`proofd serve` and `proofd import` take orders once they have opened it. Try again when the other process has ended.",
      {cause: error},
    );
  }
}
