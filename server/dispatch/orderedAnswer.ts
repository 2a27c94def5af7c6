/**
 * The parts of one response, one for each segment. They arrive in any order and are sent in the order of the request:
 *
 *   segments   sent | sent | not answered | aside | not answered | aside
 *                            ^ nextToSend
 */
import {SEPARATOR} from "../../workers/messages/answers.ts";
import type {ReplySink} from "../request/replySink.ts";
import {Piece} from "../request/taskText.ts";
import type {LaneProgress} from "./laneProgress.ts";

const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

interface AsidePart {
  readonly pieces: Piece[];
  readonly byteCount: number;
  readonly progress: LaneProgress;
}

export class OrderedAnswer {
  /** Index of the first segment that is not sent. */
  nextToSend = 0;
  /** Parts that wait for an earlier one. Most requests have none. */
  private aside: Map<number, AsidePart> | undefined;

  constructor(
    private readonly reply: ReplySink,
    private readonly isBatch: boolean,
    private readonly count: number,
  ) {}

  get isComplete(): boolean {
    return this.nextToSend === this.count;
  }

  get isBegun(): boolean {
    return this.nextToSend > 0 || this.aside !== undefined;
  }

  has(index: number): boolean {
    return index < this.nextToSend || this.aside?.has(index) === true;
  }

  /** Sends the part, and those set aside that follow it; or sets it aside if an earlier one is missing. */
  put(index: number, pieces: Piece[], progress: LaneProgress): void {
    if (index !== this.nextToSend) {
      for (const piece of pieces) piece.wait();
      const part = {pieces, progress, byteCount: countBytes(pieces)};
      progress.asideBytes += part.byteCount;
      this.aside ??= new Map();
      this.aside.set(index, part);
      return;
    }
    this.send(pieces);
    for (let part = this.takeAside(); part !== undefined; part = this.takeAside()) {
      part.progress.asideBytes -= part.byteCount;
      this.send(part.pieces);
    }
  }

  drop(): void {
    for (const {pieces} of this.aside?.values() ?? []) for (const piece of pieces) piece.release();
    this.aside = undefined;
  }

  private takeAside(): AsidePart | undefined {
    const part = this.aside?.get(this.nextToSend);
    if (part !== undefined) this.aside?.delete(this.nextToSend);
    return part;
  }

  /** Every piece ends in a comma. The last comma is replaced by the end of the batch. */
  private send(pieces: Piece[]): void {
    const isFirst = this.nextToSend === 0;
    this.nextToSend++;
    if (this.isComplete) {
      (pieces.at(-1) as Piece).shorten(SEPARATOR.length);
      if (this.isBatch) pieces.push(new Piece(CLOSE));
    }
    if (isFirst && this.isBatch) pieces.unshift(new Piece(OPEN));
    if (this.isComplete) this.reply.finish(pieces);
    else this.reply.push(pieces);
  }
}

function countBytes(pieces: readonly Piece[]): number {
  let byteCount = 0;
  for (const piece of pieces) byteCount += piece.length;
  return byteCount;
}
