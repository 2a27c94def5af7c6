/**
 * Memory that the main thread shares with a thread for proofs or short estimates: a short job, a long one, and where their answers end. A job
 * is written here and not sent, so it costs no message and no objects. The thread sleeps in Atomics.wait until the
 * first number changes.
 *
 *   0       4 KiB
 *   | posts | place of the short job | place of the long job |
 *
 *   place   0        4       8            12         16              4 KiB               8 KiB               12 KiB
 *           | is full | calls | call bytes | id bytes | memory, or -1 | ends of odd jobs  | ends of even jobs | packed calls | ids, a line each |
 *
 * The main thread reads the ends of a job while the thread works on the next one. The text lies in the answer memory
 * that the job names (answerMemory.ts). A message tells that the job is done (JobMessage).
 */
import type {MessagePort} from "node:worker_threads";
import type {Answers} from "./answers.ts";

const PLACES_AT = 4096;
const ENDS_AT = 4096;
const ENDS_BYTES = 4096;
const JOB_AT = ENDS_AT + 2 * ENDS_BYTES;
/** Calls of a job, at most. */
const MAX_CALLS = ENDS_BYTES / Uint32Array.BYTES_PER_ELEMENT;
/** The server's largest job has 128 calls, with ids of 1.5 KB: 210 KB. Only pages that were written to are resident. */
const JOB_BYTES = 1 << 20;
const PLACE_BYTES = JOB_AT + JOB_BYTES;

/** Indexes of a place's numbers. */
const IS_FULL = 0;
const CALLS = 1;
const CALL_BYTES = 2;
const ID_BYTES = 3;
const MEMORY = 4;

/** In place of the number of calls: the thread is to end. */
const STOP = -1;
const NO_MEMORY = -1;

/** Where a job lies. A thread that works on a long job yields to short ones (prove/yieldPoint.ts). */
export const JobPlace = {SHORT: 0, LONG: 1} as const;
export type JobPlace = (typeof JobPlace)[keyof typeof JobPlace];
/** In the order in which a thread takes them. */
export const JOB_PLACES: readonly JobPlace[] = [JobPlace.SHORT, JobPlace.LONG];

export interface PackedJob {
  /** Packed calls, back to back (packedCall.ts, packedEstimate.ts). */
  readonly calls: Uint8Array;
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /** It may take longer than short jobs should wait. Estimates have their whole time, not a slice (estimateSlice.ts). */
  readonly isLong?: boolean;
}

/** What a thread gets when it starts. */
export interface JobPost {
  /** Of its JobMailbox. */
  readonly mailbox: SharedArrayBuffer;
  /** Of AnswerMemories. */
  readonly memories: SharedArrayBuffer;
  /** For a JobMessage after each job (postAnswers). */
  readonly port: MessagePort;
}

/** What a thread sends when a job is done. Only the place: all calls are answered, in the answer memory. */
export type JobMessage =
  | JobPlace
  | (Omit<Answers, "text" | "ends"> & {
      readonly place: JobPlace;
      /** undefined: it is in the answer memory. */
      readonly text: Uint8Array | undefined;
    })
  | {readonly place: JobPlace; readonly error: unknown};

export interface PostedJob extends PackedJob {
  readonly place: JobPlace;
  readonly ends: Uint32Array;
  /** Number of the answer memory. undefined: there is none for the job. */
  readonly memory: number | undefined;
}

export class JobMailbox {
  private readonly posts: Int32Array;
  private readonly short: Place;
  private readonly long: Place;

  constructor(readonly shared: SharedArrayBuffer = new SharedArrayBuffer(PLACES_AT + 2 * PLACE_BYTES)) {
    this.posts = new Int32Array(shared, 0, 1);
    this.short = new Place(shared, JobPlace.SHORT);
    this.long = new Place(shared, JobPlace.LONG);
  }

  /**
   * @param job - that refuseJob takes, for an empty place. @param memory - undefined: the text comes in the message
   * @returns where its answers will end, until the job after the next one is put in this place
   */
  put(job: PackedJob, memory: number | undefined): Uint32Array {
    const ends = (job.isLong === true ? this.long : this.short).put(job, memory);
    this.post();
    return ends;
  }

  /** Ends the thread, which must have no job. */
  stop(): void {
    this.short.stop();
    this.post();
  }

  /** For the thread: whether `take` would return a short job now. Hot: asked for each page or key of a long job. */
  hasShort(): boolean {
    return this.short.isFull();
  }

  /** Waits for the thread's next job, a short one first, whose calls are readable until it is done. undefined: end */
  take(): PostedJob | undefined {
    for (;;) {
      const posts = Atomics.load(this.posts, 0);
      if (this.short.isFull()) return this.short.take();
      if (this.long.isFull()) return this.long.take();
      Atomics.wait(this.posts, 0, posts);
    }
  }

  private post(): void {
    Atomics.add(this.posts, 0, 1);
    Atomics.notify(this.posts, 0);
  }
}

class Place {
  private readonly numbers: Int32Array;
  private readonly ends: readonly [Uint32Array, Uint32Array];
  private readonly job: Buffer;
  private turn: 0 | 1 = 0;

  constructor(
    shared: SharedArrayBuffer,
    private readonly place: JobPlace,
  ) {
    const start = PLACES_AT + place * PLACE_BYTES;
    this.numbers = new Int32Array(shared, start, MEMORY + 1);
    const createEnds = (at: number) => new Uint32Array(shared, start + at, MAX_CALLS);
    this.ends = [createEnds(ENDS_AT), createEnds(ENDS_AT + ENDS_BYTES)];
    this.job = Buffer.from(shared, start + JOB_AT, JOB_BYTES);
  }

  put({calls, ids}: PackedJob, memory: number | undefined): Uint32Array {
    const {numbers, job} = this;
    job.set(calls);
    numbers[CALL_BYTES] = calls.length;
    // One write: it takes a third of the time of one for each id.
    numbers[ID_BYTES] = job.write(ids.join("\n"), calls.length, "utf8");
    numbers[MEMORY] = memory ?? NO_MEMORY;
    this.fill(ids.length);
    return this.nextEnds();
  }

  stop(): void {
    this.fill(STOP);
  }

  isFull(): boolean {
    return Atomics.load(this.numbers, IS_FULL) === 1;
  }

  /** There must be a job. */
  take(): PostedJob | undefined {
    const {numbers, job, place} = this;
    const count = numbers[CALLS];
    if (count === STOP) return undefined;
    const callBytes = numbers[CALL_BYTES] as number;
    const memory = numbers[MEMORY];
    // The text of an id has no line feed: it would be escaped.
    const lines = job.toString("utf8", callBytes, callBytes + (numbers[ID_BYTES] as number));
    Atomics.store(numbers, IS_FULL, 0);
    return {
      place,
      calls: job.subarray(0, callBytes),
      ids: lines.split("\n", count),
      ends: this.nextEnds(),
      memory: memory === NO_MEMORY ? undefined : memory,
    };
  }

  private fill(callCount: number): void {
    this.numbers[CALLS] = callCount;
    Atomics.store(this.numbers, IS_FULL, 1);
  }

  private nextEnds(): Uint32Array {
    this.turn = this.turn === 0 ? 1 : 0;
    return this.ends[this.turn];
  }
}

/** Tells that the job in this place is done. @param memory - of the job */
export function postAnswers(
  port: MessagePort,
  place: JobPlace,
  {text, failures, unfinished, begun}: Answers,
  memory: Uint8Array | undefined,
): void {
  const isPlain = failures.length === 0 && unfinished === undefined && begun === undefined;
  const more = {place, failures, unfinished, begun};
  if (text !== memory) port.postMessage({...more, text}, [text.buffer as ArrayBuffer]);
  else port.postMessage(isPlain ? place : {...more, text: undefined});
}

/** @returns why a job is too large, or undefined */
export function refuseJob({calls, ids}: PackedJob): RangeError | undefined {
  if (ids.length > MAX_CALLS)
    return new RangeError(`a job: expected at most ${MAX_CALLS} calls, got ${ids.length}`);
  let most = calls.length;
  for (const id of ids) most += 3 * id.length + 1;
  if (most <= JOB_BYTES) return undefined;
  return new RangeError(`a job: expected at most ${JOB_BYTES} bytes, got up to ${most}`);
}
