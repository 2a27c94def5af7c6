/** A thread for one job, which says how far it is and can be asked to end. */
import {MessageChannel, type MessagePort} from "node:worker_threads";
import type {Running} from "./running.ts";
import {SupervisedThread, type ThreadSettings} from "./supervisor.ts";

export interface OwnJob<Job> {
  readonly job: Job;
  /** Takes the events of the job, and gives the message "stop". The thread closes it. */
  readonly port: MessagePort;
}

/** The outcome rejects with ThreadLost if the thread dies or cannot start. It is not started again. */
export function startOwnThread<Job, Event, Outcome>(
  settings: Pick<ThreadSettings<OwnJob<Job>, Outcome>, "kind" | "module" | "resourceLimits">,
  job: Job,
  onEvent: (event: Event) => void = () => {},
): Running<Outcome> {
  // Piscina's thread must hear "stop" while it works.
  const thread = new SupervisedThread<OwnJob<Job>, Outcome>({...settings, atomics: "disabled"}, () => {});
  const {port1, port2} = new MessageChannel();
  port1.on("message", onEvent);
  const outcome = thread.run({job, port: port2}, {transferList: [port2]}).finally(async () => {
    port1.close();
    await thread.destroy();
  });
  return {outcome, stop: () => port1.postMessage("stop")};
}
