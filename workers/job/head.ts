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
  /** Blocks from this one on await their audit, and are not finalized before. Not there: none does. */
  readonly unaudited?: number;
}

/** The newest block that may be finalized now; -1 for none. */
export function finalizable({
  latest = -1,
  unaudited = latest + 1,
}: Pick<Head, "latest" | "unaudited">): number {
  return unaudited - 1;
}

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = await reader.latest();
  // Not searched for: a block record that is neither held nor pruned is damage, not a later beginning.
  const earliest = latest === undefined ? undefined : reader.readEarliest();
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may call a block final before it has sent it.
  const finalized = latest === undefined || marker === undefined ? undefined : Math.min(marker, latest);
  const unaudited = reader.readUnaudited();
  return {earliest, finalized, latest, ...(unaudited <= (latest ?? -1) ? {unaudited} : {})};
}
