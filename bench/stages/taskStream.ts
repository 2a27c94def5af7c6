/**
 * Keeps a fixed number of tasks in flight: when one ends, the next starts.
 */
export class TaskStream {
  private readonly startTask: () => Promise<unknown>;
  private readonly inFlight: number;
  private isStopping = false;
  private lanes: Promise<void>[] = [];
  /** Tasks that ended since `take` last resolved. */
  private ended = 0;
  private wanted = Number.POSITIVE_INFINITY;
  private onWanted = (): void => {};

  constructor(startTask: () => Promise<unknown>, inFlight: number) {
    this.startTask = startTask;
    this.inFlight = inFlight;
  }

  start(): void {
    this.isStopping = false;
    this.ended = 0;
    this.lanes = Array.from({length: this.inFlight}, () => this.runLane());
  }

  /** Resolves when `count` more tasks have ended. @throws what a task throws */
  async take(count: number): Promise<void> {
    this.wanted = count;
    const enough = new Promise<void>(resolve => {
      this.onWanted = resolve;
    });
    this.resolveIfEnough();
    await Promise.race([enough, Promise.all(this.lanes)]);
  }

  /** Waits for the tasks in flight. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.lanes);
  }

  private async runLane(): Promise<void> {
    while (!this.isStopping) {
      await this.startTask();
      this.ended++;
      this.resolveIfEnough();
    }
  }

  private resolveIfEnough(): void {
    if (this.ended < this.wanted) return;
    this.ended -= this.wanted;
    this.wanted = Number.POSITIVE_INFINITY;
    this.onWanted();
  }
}
