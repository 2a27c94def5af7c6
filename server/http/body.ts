/**
 * Reads a request's body: collects it up to a limit, or drops what is refused. All bodies that are being received or wait for their turn
 * share a second limit, so that many slow writers cannot fill the memory. While others have their turns, no more of a body is read. A
 * body that is refused is read and dropped in the same way, and answered when it has come: if the connection were closed at once, the
 * answer could be lost.
 */

import type {ByteHolder, Excess, SharedBytes} from "../fairness/sharedBytes.ts";
import type {Work} from "../fairness/work.ts";
import type {HttpResponse} from "../listener/exchange.ts";
import {WHOLE_BYTES} from "../rpc/envelope.ts";
import type {Intake} from "./intake.ts";
import type {Reply} from "./reply.ts";

interface BodyTaker {
  /** @param free - gives up the body's memory; undefined: the body may be read during the call only */
  takeBody(reply: Reply, body: Buffer, free: (() => void) | undefined): void;
  /** More bytes came than a body may have. @param got - bytes that have come */
  refuseLarge(reply: Reply, got: number): void;
  /** The bodies that are held would exceed a common limit. @returns what answers when the body has come */
  refuseRoom(reply: Reply, excess: Excess): () => void;
}

type Chunk = ArrayBuffer | Uint8Array;

const FIRST_BYTES = 16 * 1024;
/** Of a refused body no more is read: its connection is closed. */
const MOST_DROPPED_BYTES = 64 << 20;
/** What a byte takes from the kernel to memory that is new, in ms: 5 MB take 1.7 ms, a third of which where they are dropped. */
const BYTE_MS = 3.3e-7;
/** A body that is read on may have megabytes in the kernel, which come at once. So a slice has one. */
const READ_MS = 1;

/** Drops a body, and calls `answer` when it has come. */
export function dropBody(response: HttpResponse, reply: Reply, intake: Intake, answer: () => void): void {
  let length = 0;
  readInTurns(response, reply, intake, MOST_DROPPED_BYTES, (chunk, isLast) => {
    length += chunk.byteLength;
    if (isLast) intake.start(answerRead(length, reply, answer), () => reply.readClient(), "body");
  });
}

/** Collects a body. @returns a function that gives up the memory. Call it if the client goes away */
export function collectBody(
  response: HttpResponse,
  held: SharedBytes,
  reply: Reply,
  intake: Intake,
  taker: BodyTaker,
): () => void {
  const limit = held.bodyLimit;
  let holder: ByteHolder | undefined;
  let collected: Buffer | undefined;
  let length = 0;
  let isWhole = false;
  /** Answers in place of the taker. The rest of the body is dropped. */
  let refuse: (() => void) | undefined;
  const release = () => {
    if (collected !== undefined) held.remove(holder as ByteHolder, collected.length);
    collected = undefined;
  };
  const giveWay = (excess: Excess) => {
    // Also ends the work on a body that is whole.
    reply.onAborted?.();
    refuse = taker.refuseRoom(reply, excess);
    if (isWhole) refuse();
  };
  readInTurns(response, reply, intake, limit + MOST_DROPPED_BYTES, (chunk, isLast) => {
    const start = length;
    length += chunk.byteLength;
    if (length > limit && refuse === undefined) {
      release();
      refuse = () => taker.refuseLarge(reply, length);
    }
    if (collected === undefined && isLast && length <= WHOLE_BYTES && refuse === undefined && intake.isFree) {
      taker.takeBody(reply, viewOf(chunk), undefined);
      return;
    }
    // One buffer that doubles, and soon has all that a body may have. As a list of chunks, a body sent byte by byte would take a
    // hundred times its size.
    if (refuse === undefined && (collected === undefined || length > collected.length)) {
      const grownBytes = length * 2 > limit / 4 ? limit : Math.max(FIRST_BYTES, length * 2);
      const byteCount = isLast ? length : grownBytes;
      holder ??= {client: reply.readClient(), giveWay};
      const excess = held.add(holder, byteCount - (collected?.length ?? 0));
      if (excess === undefined) {
        const grown: Buffer = Buffer.allocUnsafeSlow(byteCount);
        collected?.copy(grown, 0, 0, start);
        collected = grown;
      } else giveWay(excess);
    }
    collected?.set(viewOf(chunk), start);
    isWhole = isLast;
    if (isLast && collected !== undefined) taker.takeBody(reply, collected.subarray(0, length), release);
    else if (isLast) intake.start(answerRead(length, reply, refuse), () => reply.readClient(), "body");
  });
  return release;
}

/** Reads a body. Once a turn has no time left, the rest comes when the client has its turn. A longer one than `mostBytes` is cut off. */
function readInTurns(
  response: HttpResponse,
  reply: Reply,
  intake: Intake,
  mostBytes: number,
  take: (chunk: Chunk, isLast: boolean) => void,
): void {
  let length = 0;
  let turn = 0;
  /** In this turn. */
  let pieces = 0;
  let isPaused = false;
  const resume = () => {
    if (!isPaused || reply.isOver) return;
    isPaused = false;
    response.resume();
  };
  response.onData((chunk, isLast) => {
    if (reply.isOver) return;
    length += chunk.byteLength;
    if (turn !== intake.turn) {
      turn = intake.turn;
      pieces = 0;
    }
    if (length > mostBytes || intake.pieces.isTooMany(chunk.byteLength, ++pieces, () => reply.readClient())) {
      reply.close();
      return;
    }
    // What had come before the pause comes in spite of it. A socket that stays paused would take no other request.
    if (isLast) resume();
    take(chunk, isLast);
    if (isLast || reply.isOver) return;
    intake.spend(chunk.byteLength * BYTE_MS);
    if (isPaused || intake.isFree) return;
    isPaused = true;
    response.pause();
    intake.start(readOn(resume), () => reply.readClient(), "body");
  });
}

function* readOn(resume: () => void): Work {
  resume();
  yield READ_MS;
}

/** Work on a body for which its client pays the reading, so that it sends the next one later. */
export function* afterReading(byteCount: number, work: Work): Work {
  yield byteCount * BYTE_MS;
  yield* work;
}

/** Answers a request whose body was dropped, or that has none. */
export function* answerRead(byteCount: number, reply: Reply, answer: (() => void) | undefined): Work {
  if (byteCount > 0) yield byteCount * BYTE_MS;
  if (!reply.isOver) answer?.();
}

function viewOf(chunk: Chunk): Buffer {
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : Buffer.from(chunk);
}
