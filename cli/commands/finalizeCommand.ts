/**
 * `proofd finalize`: marks blocks as finalized on layer 1. It works while another proofd serves the store or imports
 * into it.
 */
import {ExitCode} from "../exitCode.ts";
import {giveOrder} from "./storeOrder.ts";

/** @returns the exit code: OK even if these blocks were finalized before */
export async function runFinalize({db, to}: {readonly db: string; readonly to: number}): Promise<number> {
  const {before, after} = await giveOrder(db, {kind: "finalize", to});
  process.stdout.write(
    before.finalized === after.finalized
      ? `nothing changed: blocks up to ${after.finalized} were finalized before\n`
      : `blocks up to ${after.finalized} are finalized; before: ${before.finalized ?? "none"}\n`,
  );
  return ExitCode.OK;
}
