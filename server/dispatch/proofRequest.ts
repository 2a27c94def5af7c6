/**
 * One HTTP request's calls of chain_getProof while they are under way: which segments have started, which answers wait
 * for an earlier one, how much of the answer its reader has still to take.
 *
 *   segments   sent | sent | aside | under way | aside | not started | ...
 *                          ^ nextToSend                ^ nextToStart
 */
import type {Head} from "../../workers/job.ts";
import type {Reply} from "../http/reply.ts";
import {cutSegments, type ProofCalls, type Segment} from "./segment.ts";

const COMMA_BYTES = 1;
const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

export class ProofRequest {
  readonly id: string;
  readonly calls: ProofCalls;
  readonly isBatch: boolean;
  /** The head that the request's selectors were resolved against. */
  readonly head: Head;
  readonly reply: Reply;
  readonly segments: readonly Segment[];
  readonly startedMs: number;
  /** When the unfinished calls are given up; moves while the request waits for its own reader. */
  deadlineMs: number;
  /** Since when the request waits for its own reader; null while it does not. */
  pausedSinceMs: number | null = null;
  /** It has waited for its own reader. */
  isReaderBound = false;
  /** How much of the dispatcher's queued cost is its. */
  countedShare = 0;
  /** Cost of the segments that are not answered yet. */
  remainingCost = 0;
  /** Whether the dispatcher's queue holds it. */
  isQueued = false;
  /** Aborted: answers are not wanted any more. */
  isDropped = false;
  nextToStart = 0;
  #nextToSend = 0;
  #underWay = 0;
  #underWayCost = 0;
  #asideBytes = 0;
  /** Answered segments that wait for an earlier one. */
  readonly #aside = new Map<number, Uint8Array[]>();

  constructor(
    id: string,
    calls: ProofCalls,
    isBatch: boolean,
    head: Head,
    reply: Reply,
    nowMs: number,
    timeoutMs: number,
  ) {
    this.id = id;
    this.calls = calls;
    this.isBatch = isBatch;
    this.head = head;
    this.reply = reply;
    this.segments = cutSegments(calls);
    for (const segment of this.segments) this.remainingCost += segment.cost;
    this.startedMs = nowMs;
    this.deadlineMs = nowMs + timeoutMs;
  }

  /** What it adds to the queue. A slow reader's request asks for no more than is under way for it. */
  get queueShare(): number {
    if (this.isDropped) return 0;
    return this.isReaderBound ? this.#underWayCost : this.remainingCost;
  }

  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  get isAnswered(): boolean {
    return this.#nextToSend === this.segments.length;
  }

  get hasSegmentsToStart(): boolean {
    return this.nextToStart < this.segments.length;
  }

  /**
   * May another segment start? Where nothing is under way one always may, however large, unless the reader does not
   * take what there is: then the reply's next drain asks again. (Bytes that the reply only collects must not count
   * here, since nothing would ever drain them.)
   *
   * @param bytesPerCost - upper bound of an answer's text per unit of cost
   */
  fitsWindow(windowBytes: number, bytesPerCost: number): boolean {
    if (this.isIdle && !this.reply.isBlocked) return true;
    const next = this.segments[this.nextToStart];
    if (next === undefined) return false;
    const expected = (this.#underWayCost + next.cost) * bytesPerCost;
    return expected + this.#asideBytes + this.reply.heldBytes <= windowBytes;
  }

  /** @returns the index of the segment that starts */
  start(): number {
    const index = this.nextToStart++;
    this.#underWay++;
    this.#underWayCost += (this.segments[index] as Segment).cost;
    return index;
  }

  /** A started segment's task has ended, with whatever result. */
  stopped(index: number): void {
    this.#underWay--;
    this.#underWayCost -= (this.segments[index] as Segment).cost;
  }

  isSegmentAnswered(index: number): boolean {
    return index < this.#nextToSend || this.#aside.has(index);
  }

  /** Hands over a segment's part of the response and sends what is in order. */
  answer(index: number, pieces: Uint8Array[]): void {
    this.remainingCost -= (this.segments[index] as Segment).cost;
    if (index !== this.#nextToSend) {
      this.#aside.set(index, pieces);
      this.#asideBytes += countBytes(pieces);
      return;
    }
    this.#send(pieces);
    for (
      let next = this.#aside.get(this.#nextToSend);
      next !== undefined;
      next = this.#aside.get(this.#nextToSend)
    ) {
      this.#aside.delete(this.#nextToSend);
      this.#asideBytes -= countBytes(next);
      this.#send(next);
    }
    if (this.isAnswered) this.reply.finish();
  }

  /** Every piece ends in a comma; the last one gives way to the end of the batch. */
  #send(pieces: Uint8Array[]): void {
    const isFirst = this.#nextToSend === 0;
    this.#nextToSend++;
    if (this.isAnswered) {
      const last = pieces.pop() as Uint8Array;
      pieces.push(last.subarray(0, last.length - COMMA_BYTES));
      if (this.isBatch) pieces.push(CLOSE);
    }
    if (isFirst && this.isBatch) pieces.unshift(OPEN);
    this.reply.push(pieces);
  }
}

function countBytes(pieces: readonly Uint8Array[]): number {
  let byteCount = 0;
  for (const piece of pieces) byteCount += piece.length;
  return byteCount;
}
