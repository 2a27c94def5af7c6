/**
 * The main thread's own work on requests, in turns of clients: reading bodies, checking calls, answering what needs no
 * lane, writing long answers. Everyone waits for the main thread, so no client may keep it.
 *
 *   a request -- nothing waits, and this turn of the event loop has time left --> done at once
 *            \-> its client's line -- read, short or long: in each turn a slice of SLICE_MS for each --> done
 *
 * What counts is the time that the work took. A slice goes to the client who would have had least after it
 * (fairness/clientQueue.ts). So a client with little to do waits for one slice, however many others have much to do.
 */
import {ClientQueue} from "../fairness/clientQueue.ts";
import type {Work} from "../fairness/work.ts";
import {BodyPieceLimit} from "./bodyPieceLimit.ts";

/** Another client's request waits for one slice each to be read, to be handed to its thread, and to be answered. */
const SLICE_MS = 1;
/** Where a connection has come: node:http accepts one in a turn, and the next client waits for that. */
const CONNECTION_SLICE_MS = 0.2;
/**
 * A slice may take so much longer than expected. A part of the work takes a few tenths of a millisecond, so a longer
 * one is due to the collector or to other threads, unless the client's slice before was too long as well.
 */
const MAX_EXCESS_MS = 0.25;
const MAX_EXCEEDING = 4096;

/**
 * Each kind of a client's work has a line of its own: behind a proxy, all users may be one client. A read is what
 * node:http parses of a socket's (listener/nodeConnection.ts). What is long is a body, or an answer. One that is
 * written frees memory, so it comes before bodies whose client has had as much.
 */
type Kind = "read" | "short" | "body" | "answer";

export interface Job {
  /** Whose turns it takes: a client's, of one kind. */
  client: string;
  /** undefined: it is done or given up. */
  work: Work | undefined;
  /** What its next slice is thought to take. Nothing: it comes before all who have had as much. */
  nextMs: number;
}

export class Intake {
  readonly pieceLimit = new BodyPieceLimit();
  /** Number of this turn of the event loop, if a request or work has come in it. */
  turn = 1;
  private postponed: (() => void)[] = [];
  private readonly reads = createQueue();
  private readonly short = createQueue();
  private readonly long = createQueue();
  private readonly queues = {read: this.reads, short: this.short, body: this.long, answer: this.long};
  private readonly exceeding = new Set<string>();
  private isPlanned = false;
  private sliceMs = SLICE_MS;
  private usedMs = 0;

  /** A request has come. @returns the turn */
  enter(): number {
    this.plan();
    return this.turn;
  }

  /**
   * Calls `send`, but not before the end of the turn in which its request came. uWebSockets.js reads all requests of a
   * connection in one turn: if each were answered at once, a client that sends thousands without waiting (pipelining)
   * would hold up everyone else. A request that comes while the one before is unanswered ends its connection.
   */
  postpone(turn: number, send: () => void): void {
    if (turn === this.turn) this.postponed.push(send);
    else send();
  }

  /** How many jobs are in the lines, with those that were given up. */
  private get waiting(): number {
    return this.reads.length + this.short.length + this.long.length;
  }

  /** Whether `start` begins at once. */
  get isFree(): boolean {
    return this.waiting === 0 && this.usedMs < SLICE_MS;
  }

  /** @returns the job. To give it up, take its work away */
  start(work: Work, client: () => string, kind: Kind): Job {
    const job: Job = {client: "", work, nextMs: kind === "body" ? SLICE_MS : 0};
    if (this.isFree) {
      const {ownMs, besidesMs} = this.run(job, SLICE_MS - this.usedMs);
      this.usedMs += ownMs + besidesMs;
    }
    if (job.work !== undefined) {
      job.client = `${kind} ${client()}`;
      this.queues[kind].push(job);
    }
    this.plan();
    return job;
  }

  /** Counts time that something else took in this turn. */
  spend(ms: number): void {
    this.usedMs += ms;
    this.plan();
  }

  /** A connection has come in this turn. */
  shorten(): void {
    this.sliceMs = CONNECTION_SLICE_MS;
    this.plan();
  }

  /** At the end of a turn, when everything that came in it has been seen. */
  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      this.turn++;
      this.usedMs = 0;
      const {postponed, sliceMs} = this;
      this.postponed = [];
      for (const send of postponed) send();
      this.sliceMs = SLICE_MS;
      this.runSlice(this.reads, sliceMs);
      this.runSlice(this.short, sliceMs);
      this.runSlice(this.long, sliceMs);
      if (this.waiting > 0) this.plan();
    });
  }

  private runSlice(queue: ClientQueue<Job>, sliceMs: number): void {
    for (let leftMs = sliceMs; leftMs > 0; ) {
      const job = queue.shift();
      if (job === undefined) return;
      if (job.work === undefined) continue;
      const {client, nextMs} = job;
      const {ownMs, besidesMs} = this.run(job, leftMs);
      leftMs -= ownMs + besidesMs;
      if (job.work !== undefined) {
        job.nextMs = SLICE_MS;
        queue.putBack(job);
      }
      queue.charge(client, this.excessOf(client, ownMs - nextMs) + besidesMs);
    }
  }

  private excessOf(client: string, ms: number): number {
    if (ms <= MAX_EXCESS_MS) {
      this.exceeding.delete(client);
      return ms;
    }
    if (this.exceeding.has(client)) return ms;
    if (this.exceeding.size === MAX_EXCEEDING) this.exceeding.clear();
    this.exceeding.add(client);
    return MAX_EXCESS_MS;
  }

  /** Runs a job until it is done or the time is over. @returns the time it took, and the cost that it yielded */
  private run(job: Job, mostMs: number): {readonly ownMs: number; readonly besidesMs: number} {
    const startMs = performance.now();
    let ownMs = 0;
    let besidesMs = 0;
    while (ownMs + besidesMs < mostMs && job.work !== undefined) {
      const {done, value} = job.work.next();
      if (done === true) job.work = undefined;
      else besidesMs += value ?? 0;
      ownMs = performance.now() - startMs;
    }
    return {ownMs, besidesMs};
  }
}

function createQueue(): ClientQueue<Job> {
  return new ClientQueue(({work, nextMs}) => (work === undefined ? 0 : nextMs));
}
