/**
 * Which blocks a store can prove now.
 */
import type {StateStore} from "../../storage/stateStore.ts";
import type {Head} from "../job/head.ts";

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = (await reader.latest()) ?? null;
  // A store begins at block 0 and has no gaps: a record that is not there is missing.
  const earliest = latest === null ? null : 0;
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may say what is final before it has sent it.
  const finalized = latest === null || marker === undefined ? null : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
