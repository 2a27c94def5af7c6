/** Reading the head from a store. */
import type {StateStore} from "../../storage/stateStore.ts";
import type {Head} from "../messages/head.ts";

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = await reader.latest();
  // Read, not found by a search: a missing record that was not pruned is damage, not a store that begins later.
  const earliest = latest === undefined ? undefined : reader.readEarliest();
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may call a block final before it has sent it.
  const finalized = latest === undefined || marker === undefined ? undefined : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
