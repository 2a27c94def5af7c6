/** Threads are the business of who supervises them. Only a test may kill one. */
import type {Worker} from "node:worker_threads";
import type {Piscina} from "piscina";
import type {SupervisedThread} from "../../../workers/threads/supervisor.ts";

/** Resolves when it is gone. */
export async function killThread<Job, Result>(thread: SupervisedThread<Job, Result>): Promise<void> {
  const {life} = thread as unknown as {life: {pool: Piscina} | undefined};
  await Promise.all((life?.pool.threads ?? []).map(worker => (worker as Worker).terminate()));
}
