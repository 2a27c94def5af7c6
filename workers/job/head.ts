/** Which blocks a store holds and can prove now. */
import type {StateStore} from "../../storage/stateStore.ts";

/** Which blocks can be proved. `finalized` is the newest finalized block in the store; all undefined while the store is empty. */
export interface Head {
  readonly earliest: number | undefined;
  readonly finalized: number | undefined;
  readonly latest: number | undefined;
}

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = await reader.latest();
  // A store begins at block 0 and has no gaps. A block record that is not found is damage, not a later beginning.
  const earliest = latest === undefined ? undefined : 0;
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may call a block final before it has sent it.
  const finalized = latest === undefined || marker === undefined ? undefined : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
