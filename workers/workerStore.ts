/**
 * A worker thread's own handle on the store that the main thread opened.
 */
import {workerData} from "node:worker_threads";
import {StateStore} from "../storage/stateStore.ts";

/** What the pool hands to its threads. */
export interface WorkerSettings {
  readonly directory: string;
  readonly cacheBytes: number;
}

export function openWorkerStore(): Promise<StateStore> {
  // Piscina wraps it: [its own data, ours].
  const {directory, cacheBytes} = (
    Array.isArray(workerData) ? workerData.at(-1) : workerData
  ) as WorkerSettings;
  return StateStore.open({directory, cacheBytes, role: "sharer"});
}
