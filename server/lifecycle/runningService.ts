/** A running service. It starts again once a snapshot is to replace its store (following/storeReplacement.ts). */
import type {Engine} from "../../workers/engine.ts";
import type {ServiceOptions} from "./serviceOptions.ts";
import {STOP_MS, StartedService, type Surroundings} from "./startedService.ts";
import {StoppedEarly, WorkError} from "./workError.ts";

/** The fields of the JSON line of `proofd serve` once it takes requests. */
type Announcement = ReturnType<StartedService["announce"]>;

/** Starts a service; it then takes requests. @throws WorkError, StoppedEarly */
export async function startService(
  options: ServiceOptions,
  surroundings: Surroundings,
): Promise<RunningService> {
  const service = new RunningService(options, surroundings);
  await service.start();
  return service;
}

export class RunningService {
  /** Resolves if the settings can never work or the store is lost. Stop the service then. */
  readonly failed: Promise<WorkError>;
  private fail!: (error: WorkError) => void;
  /** The last restart. Never rejects. */
  private starting: Promise<void> = Promise.resolve();
  private isStopping = false;
  private started!: StartedService;

  constructor(
    private readonly options: ServiceOptions,
    private readonly surroundings: Surroundings,
  ) {
    this.failed = new Promise(resolve => {
      this.fail = resolve;
    });
  }

  get announcement(): Announcement {
    return this.started.announce();
  }

  get engine(): Engine {
    return this.started.engine;
  }

  /** Answers the requests that have begun, and stops every part. @throws WorkError as Parts */
  async stop(timeoutMs: number = STOP_MS): Promise<void> {
    this.isStopping = true;
    await this.starting;
    await this.started.stop(timeoutMs);
  }

  /** @throws WorkError, StoppedEarly */
  async start(): Promise<void> {
    this.started = await StartedService.start(this.options, this.surroundings, this.fail);
    void this.started.replaced.then(() => {
      if (!this.isStopping) this.starting = this.restart();
    });
  }

  /** Closes the connections of clients. Load balancers have none, because the replica was not ready. */
  private async restart(): Promise<void> {
    const {log} = this.surroundings;
    try {
      await this.started.stop(STOP_MS);
      await this.start();
      // With port 0, the port is another one.
      log.info(this.announcement, "the service was started again with a snapshot");
    } catch (error) {
      if (error instanceof StoppedEarly) return;
      this.fail(
        new WorkError(`the service does not start again with its snapshot: ${(error as Error).message}`),
      );
    }
  }
}
