/** Which blocks a store holds and can prove now. */
import type {StateStore} from "../../storage/stateStore.ts";

/** Which blocks can be proved. `finalized` is the newest finalized block held; all null while the store is empty. */
export interface Head {
  readonly earliest: number | null;
  readonly finalized: number | null;
  readonly latest: number | null;
}

export async function readHead({reader}: StateStore): Promise<Head> {
  const latest = (await reader.latest()) ?? null;
  // A store begins at block 0 and has no gaps: a record that is not there is missing.
  const earliest = latest === null ? null : 0;
  const marker = reader.readFinalized();
  // The marker may be ahead: a source may say what is final before it has sent it.
  const finalized = latest === null || marker === undefined ? null : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
