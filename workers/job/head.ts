/** Which blocks a store holds and can prove now. */
import type {StateStore} from "../../storage/stateStore.ts";

/**
 * Which blocks can be proved. `earliest` is the oldest block that is not pruned, and `finalized` the newest finalized block in
 * the store; all are undefined while the store is empty.
 */
export interface Head {
  readonly earliest: number | undefined;
  readonly finalized: number | undefined;
  readonly latest: number | undefined;
}

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = await reader.latest();
  // Not searched for: a block record that is neither held nor pruned is damage, not a later beginning.
  const earliest = latest === undefined ? undefined : reader.readEarliest();
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may call a block final before it has sent it.
  const finalized = latest === undefined || marker === undefined ? undefined : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
