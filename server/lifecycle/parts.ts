/** The parts of a service, which start in order and stop in reverse. */
import type {Logger} from "pino";
import {StillOpen, WorkError} from "./workError.ts";

/** Stops a part, after later ones. @param withinMs - longest wait. @param onWait - gets the name of what is awaited */
export type Stop = (withinMs: number, onWait: (what: string) => void) => Promise<void> | void;

export interface Part {
  readonly name: string;
  /** The fraction of the remaining time that the part may take to stop. Default: a tenth. */
  readonly share?: number;
  /** @returns undefined if there is nothing to stop */
  start(): Promise<Stop | undefined> | Stop | undefined;
}

const SHARE = 0.1;

export class Parts {
  private readonly started: StartedPart[] = [];

  constructor(private readonly log: Logger) {}

  async start(part: Part): Promise<void> {
    const stop = await part.start();
    if (stop !== undefined) this.started.push(new StartedPart(part, stop, this.log));
  }

  /**
   * Stops every part, even if others fail to stop. Called again, it waits again.
   *
   * @throws WorkError that names the parts that failed; StillOpen if some have not stopped in time
   */
  async stop(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs;
    const last = this.started.toReversed();
    for (const part of last) await part.stop(endMs - performance.now());
    // One that has not stopped in its share gets what the others left.
    for (const part of last) await part.waitFor(endMs - performance.now());
    const open = this.started.filter(({state}) => state === "open").map(({name}) => name);
    const failures = this.started.filter(({state}) => state === "failed");
    const reasons = failures.map(({name, reason}) => `${name} failed to stop: ${reason}`);
    if (open.length > 0)
      reasons.unshift(`expected an end within ${timeoutMs} ms; still open: ${open.reverse().join(", ")}`);
    if (reasons.length > 0) throw new (open.length > 0 ? StillOpen : WorkError)(reasons.join("; "));
  }
}

class StartedPart {
  state: "open" | "stopped" | "failed" = "open";
  /** Of the part, or of what it waits for. */
  name: string;
  reason = "";
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly part: Part,
    private readonly stopPart: Stop,
    private readonly log: Logger,
  ) {
    this.name = part.name;
  }

  /** Never rejects. @param leftMs - for this part and those that started earlier */
  async stop(leftMs: number): Promise<void> {
    const {name, share = SHARE} = this.part;
    const withinMs = Math.max(0, leftMs * share);
    this.stopping ??= this.run(withinMs);
    await this.waitFor(withinMs);
    if (this.state === "open")
      this.log.error(
        {part: name, waitsFor: this.name},
        "a part has not stopped in time; the others are stopped",
      );
  }

  /** Resolves when the part has stopped, or the time is up. */
  async waitFor(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.stopping, late]);
    clearTimeout(timer);
  }

  private async run(withinMs: number): Promise<void> {
    try {
      await this.stopPart(withinMs, what => {
        this.name = what;
      });
      this.state = "stopped";
    } catch (error) {
      this.state = "failed";
      this.reason = (error as Error).message;
      this.log.error({part: this.part.name, err: error}, "a part failed to stop; the others are stopped");
    }
  }
}
