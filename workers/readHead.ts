/**
 * Which blocks a store can prove now.
 */
import type {StateStore} from "../storage/stateStore.ts";
import type {Head} from "./job.ts";

export async function readHead(store: StateStore): Promise<Head> {
  const earliest = (await store.earliest()) ?? null;
  const latest = (await store.latest()) ?? null;
  const marker = store.readFinalized();
  // The marker may be ahead: a source may say what is final before it has sent it.
  const finalized = latest === null || marker === undefined ? null : Math.min(marker, latest);
  return {earliest, finalized, latest};
}
