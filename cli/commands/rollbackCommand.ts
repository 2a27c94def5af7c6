/** `proofd rollback`: removes unfinalized blocks. It works while another proofd serves the store or imports into it. */
import {ExitCode} from "../exitCode.ts";
import {giveOrder} from "./storeOrder.ts";

export interface RollbackOptions {
  readonly db: string;
  readonly to: number;
}

/** @returns the exit code */
export async function runRollback({db, to}: RollbackOptions): Promise<number> {
  const {before, after} = await giveOrder(db, {kind: "rollback", to});
  process.stdout.write(`rolled back from block ${before.latest} to block ${after.latest}\n`);
  return ExitCode.OK;
}
