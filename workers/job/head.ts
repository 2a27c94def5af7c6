/** Which blocks a store holds and can prove now. */
import type {StateStore} from "../../storage/stateStore.ts";

/** Which blocks can be proved. `finalized` is the newest finalized block in the store; all null while the store is empty. */
export interface Head {
  readonly earliest: number | null;
  readonly finalized: number | null;
  readonly latest: number | null;
}

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = (await reader.latest()) ?? null;
  // A store begins at block 0 and has no gaps. A block record that is not found is damage, not a later beginning.
  const earliest = latest === null ? null : 0;
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may call a block final before it has sent it.
  const finalized = latest === null || marker === undefined ? null : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
