/**
 * The main thread's own work on requests, in turns of clients: reading bodies, checking calls, answering what needs no lane, writing long
 * answers. Everyone waits for the main thread, so no client may keep it.
 *
 *   a request -- nothing waits, and this turn of the event loop has time left --> done at once
 *            \-> its client's line -- slices of SLICE_MS, and the event loop in between --> done
 *
 * What counts is the time that the work took. In a round, each client has SLICE_MS. Those who have not had theirs come before those who
 * have, so a client with little to do waits for one slice, however many others have much to do:
 *
 *   ready    lines with something to do and time left in their round, first come, first served
 *   lines    all lines, in the order of their next rounds. Where no line is ready, the first gets its next round
 */
import {Fifo} from "../rpc/fifo.ts";
import type {Work} from "../rpc/work.ts";

/**
 * A request of another client waits for one slice to be read, for one to be handed to its thread, and for one to be answered. Between two
 * slices the event loop takes some 20 us.
 */
const SLICE_MS = 1;

/** Work that is under way. */
export interface Job {
  /** undefined: it is done or given up. */
  work: Work | undefined;
}

interface Line {
  readonly jobs: Fifo<Job>;
  /** What is left of the client's time in this round. Below 0: it took too long, which later rounds pay. */
  leftMs: number;
  isReady: boolean;
}

export class Intake {
  private readonly lines = new Map<string, Line>();
  private readonly ready = new Fifo<Line>();
  /** How many jobs are in the lines, with those that were given up. */
  private waiting = 0;
  private isPlanned = false;
  /** Time that work took in this turn of the event loop. */
  private usedMs = 0;

  /** Whether `start` begins at once. */
  get isFree(): boolean {
    return this.waiting === 0 && this.usedMs < SLICE_MS;
  }

  /**
   * @param line - whose turns it takes: a client
   * @returns the job. To give it up, take its work away
   */
  start(work: Work, line: () => string): Job {
    const job: Job = {work};
    if (this.isFree) this.usedMs += this.run(job, SLICE_MS - this.usedMs);
    if (job.work !== undefined) this.push(job, line());
    this.plan();
    return job;
  }

  /** Counts time that something else took in this turn. */
  spend(ms: number): void {
    this.usedMs += ms;
    this.plan();
  }

  private push(job: Job, name: string): void {
    let line = this.lines.get(name);
    if (line === undefined) {
      line = {jobs: new Fifo(), leftMs: SLICE_MS, isReady: false};
      this.lines.set(name, line);
    }
    line.jobs.push(job);
    this.waiting++;
    if (line.leftMs > 0) this.makeReady(line);
  }

  private makeReady(line: Line): void {
    if (line.isReady) return;
    line.isReady = true;
    this.ready.push(line);
  }

  /** At the end of a turn, when everything that came in it has been seen. */
  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      this.usedMs = 0;
      this.runSlice();
      if (this.waiting > 0) this.plan();
    });
  }

  private runSlice(): void {
    let leftMs = SLICE_MS;
    while (leftMs > 0 && this.waiting > 0) {
      const line = this.ready.peek() ?? this.beginRound();
      const usedMs = this.runLine(line, leftMs);
      leftMs -= usedMs;
      line.leftMs -= usedMs;
      if (line.leftMs > 0 && line.jobs.length > 0) continue;
      line.isReady = false;
      this.ready.shift();
    }
    // Everyone has had what they wanted.
    if (this.waiting === 0) this.lines.clear();
  }

  /** @returns the first line that is ready in its next round, and at the head of `ready` now */
  private beginRound(): Line {
    for (const [name, line] of this.lines) {
      this.lines.delete(name);
      if (line.jobs.length === 0) continue;
      // A map keeps its keys in the order in which they were added, so the line is the last one now, and is visited again.
      this.lines.set(name, line);
      line.leftMs += SLICE_MS;
      if (line.leftMs <= 0) continue;
      this.makeReady(line);
      return line;
    }
    throw new Error("jobs are waiting in no line");
  }

  /** Runs the line's first job. @returns how long it took */
  private runLine({jobs, leftMs}: Line, mostMs: number): number {
    const job = jobs.peek() as Job;
    const usedMs = job.work === undefined ? 0 : this.run(job, Math.min(leftMs, mostMs));
    if (job.work === undefined) {
      jobs.shift();
      this.waiting--;
    }
    return usedMs;
  }

  /** Runs a job's parts until it is done or the time is over. @returns how long it took */
  private run(job: Job, mostMs: number): number {
    const startMs = performance.now();
    let usedMs = 0;
    let besidesMs = 0;
    while (usedMs < mostMs && job.work !== undefined) {
      const {done, value} = job.work.next();
      if (done === true) job.work = undefined;
      else besidesMs += value ?? 0;
      usedMs = performance.now() - startMs + besidesMs;
    }
    return usedMs;
  }
}
