/** A job that has a thread for itself. */
import type {MessagePort} from "node:worker_threads";

/** What the thread gets. */
export interface OwnJob<Job> {
  readonly job: Job;
  /** Takes the events of the job, and gives the message "stop". The thread closes it. */
  readonly port: MessagePort;
}
