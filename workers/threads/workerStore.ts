/** A worker thread's own handle on the store that the main thread opened. */
import {workerData} from "node:worker_threads";
import {StateStore} from "../../storage/stateStore.ts";

export interface WorkerSettings {
  readonly directory: string;
  readonly cacheBytes: number;
}

/** The settings of this thread. Piscina wraps them: [its own data, these settings]. */
export function readWorkerSettings<Settings extends WorkerSettings>(): Settings {
  return (Array.isArray(workerData) ? workerData.at(-1) : workerData) as Settings;
}

export function openWorkerStore(): Promise<StateStore> {
  const {directory, cacheBytes} = readWorkerSettings();
  return StateStore.open({directory, cacheBytes, role: "sharer"});
}
