/** Threads are the business of who supervises them. Only a test may kill one. */
import assert from "node:assert/strict";
import type {Worker} from "node:worker_threads";
import type {Piscina} from "piscina";
import type {SupervisedThread} from "../../../workers/threads/supervisor.ts";

/** Resolves when it is gone. */
export async function killThread<Job, Result>(thread: SupervisedThread<Job, Result>): Promise<void> {
  assert.ok("instance" in thread, "a supervised thread has an instance, or undefined");
  const {instance} = thread as unknown as {instance: {pool: Piscina} | undefined};
  await Promise.all((instance?.pool.threads ?? []).map(worker => (worker as Worker).terminate()));
}
