/**
 * The main thread's end of one import.
 *
 *   main thread   <-- ImportEvent, SourceEvent, CommandAnswer --   import thread
 *                 -- "stop", ImportCommand ------------------->
 */
import {MessageChannel, type MessagePort} from "node:worker_threads";
import type {
  ChainCommand,
  CommandAnswer,
  ImportEvent,
  ImportJob,
  ImportMessage,
  ImportOutcome,
} from "../messages/importJob.ts";
import type {SourceEvent} from "../messages/importSource.ts";
import type {Running} from "../threads/running.ts";
import type {SupervisedThread} from "../threads/supervisor.ts";
import {ThreadPulse} from "../threads/threadPulse.ts";

/** The thread that writes. There is only one of a store, and only while it has a job. */
export type ImportThread = SupervisedThread<ImportJob, ImportOutcome>;

export interface ImportListeners {
  /** Called before the outcome resolves. */
  readonly onEvent: (event: ImportEvent) => void;
  readonly onSource: (event: SourceEvent) => void;
}

export class ImportSession implements Running<ImportOutcome> {
  readonly outcome: Promise<ImportOutcome>;
  /** Resolves when the import has ended, however it did. */
  readonly ended: Promise<void>;
  /** The thread has the job. */
  hasBegun = false;
  private readonly port: MessagePort;
  /** Settles the command that was sent last: the next one is sent after it. */
  private settle = (_answer: CommandAnswer | undefined): void => {};
  private isOver = false;

  /** @param ready - the job starts after it */
  constructor(
    thread: ImportThread,
    job: Omit<ImportJob, "port">,
    ready: Promise<unknown>,
    listeners: ImportListeners & {readonly onOutcome: (outcome: ImportOutcome) => void},
  ) {
    const {port1: near, port2: far} = new MessageChannel();
    this.port = near;
    near.on("message", (message: ImportMessage) => {
      if ("refusal" in message) this.settle(message);
      else if ("kind" in message) listeners.onSource(message);
      else listeners.onEvent(message);
    });
    // The worker closes its end when it is done or dead, so all events are here before the outcome.
    const allReceived = new Promise<void>(resolve => near.once("close", resolve));
    const run = async (): Promise<ImportOutcome> => {
      await ready;
      this.hasBegun = true;
      try {
        const pulse = new ThreadPulse();
        const outcome = await thread.run(
          {...job, port: far, pulse: pulse.shared},
          {transferList: [far], pulse: () => pulse.read()},
        );
        await allReceived;
        listeners.onOutcome(outcome);
        return outcome;
      } finally {
        near.close();
      }
    };
    this.outcome = run();
    const end = (): void => {
      this.isOver = true;
      this.settle(undefined);
    };
    this.ended = this.outcome.then(end, end); // the caller of startImport gets the failure
  }

  stop(): void {
    this.port.postMessage("stop");
  }

  /** One at a time. @returns undefined if the import ended without executing the command */
  send(command: ChainCommand): Promise<CommandAnswer | undefined> {
    if (this.isOver) return Promise.resolve(undefined);
    return new Promise(resolve => {
      this.settle = resolve;
      this.port.postMessage(command);
    });
  }
}
