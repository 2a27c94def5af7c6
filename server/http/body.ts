/**
 * Reads a request's body up to a limit. All bodies in memory share a second limit, so slow senders cannot fill it.
 * Clients take turns, and a body is not read during the turns of others. A refused body is read and dropped, then
 * answered: if the connection were closed at once, the answer could be lost.
 */

import type {ByteHolder, Excess, SharedBytes} from "../fairness/sharedBytes.ts";
import type {Work} from "../fairness/work.ts";
import type {HttpResponse} from "../listener/exchange.ts";
import {WHOLE_BYTES} from "../rpc/envelope.ts";
import type {Intake} from "./intake.ts";
import type {Reply} from "./reply.ts";

interface BodyTaker {
  /** @param free - frees the body's memory; undefined: the body may be read during the call only */
  takeBody(reply: Reply, body: Buffer, free: (() => void) | undefined): void;
  /** @param got - bytes that have come, more than a body may have */
  refuseTooLarge(reply: Reply, got: number): void;
  /** The bodies would exceed a common limit. @returns what answers when the body has come */
  refuseNoRoom(reply: Reply, excess: Excess): () => void;
}

type Chunk = ArrayBuffer | Uint8Array;

const FIRST_BYTES = 16 * 1024;
/** After this much of a refused body the connection is closed. */
const MAX_DROPPED_BYTES = 64 << 20;
/** Time to copy a byte from the kernel, in ms: 5 MB take 1.7 ms, or a third of that if they are dropped. */
const BYTE_MS = 3.3e-7;
/** Megabytes may come at once from the kernel, so a slice reads on one body. */
const READ_MS = 1;

export function dropBody(response: HttpResponse, reply: Reply, intake: Intake, answer: () => void): void {
  let length = 0;
  readInTurns(response, reply, intake, MAX_DROPPED_BYTES, (chunk, isLast) => {
    length += chunk.byteLength;
    if (isLast) intake.start(answerRead(length, reply, answer), () => reply.readClient(), "body");
  });
}

/** @returns a function that frees the memory. Call it if the client goes away */
export function collectBody(
  response: HttpResponse,
  sharedBytes: SharedBytes,
  reply: Reply,
  intake: Intake,
  taker: BodyTaker,
): () => void {
  const limit = sharedBytes.bodyLimit;
  let holder: ByteHolder | undefined;
  let collected: Buffer | undefined;
  let length = 0;
  let isWhole = false;
  /** Answers instead of the taker. The rest of the body is dropped. */
  let refuse: (() => void) | undefined;
  const release = () => {
    if (collected !== undefined) sharedBytes.remove(holder as ByteHolder, collected.length);
    collected = undefined;
  };
  const giveWay = (excess: Excess) => {
    // Also ends the work on a body that is whole.
    reply.onAborted?.();
    refuse = taker.refuseNoRoom(reply, excess);
    if (isWhole) refuse();
  };
  readInTurns(response, reply, intake, limit + MAX_DROPPED_BYTES, (chunk, isLast) => {
    const start = length;
    length += chunk.byteLength;
    if (length > limit && refuse === undefined) {
      release();
      refuse = () => taker.refuseTooLarge(reply, length);
    }
    if (collected === undefined && isLast && length <= WHOLE_BYTES && refuse === undefined && intake.isFree) {
      taker.takeBody(reply, viewOf(chunk), undefined);
      return;
    }
    // One buffer that doubles: a list of chunks could take a hundred times the size of a body sent byte by byte.
    if (refuse === undefined && (collected === undefined || length > collected.length)) {
      const grownBytes = length * 2 > limit / 4 ? limit : Math.max(FIRST_BYTES, length * 2);
      const byteCount = isLast ? length : grownBytes;
      holder ??= {client: reply.readClient(), giveWay};
      const excess = sharedBytes.add(holder, byteCount - (collected?.length ?? 0));
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

/** Once a turn has no time left, the rest comes in the client's next turn. Beyond `mostBytes` the connection ends. */
function readInTurns(
  response: HttpResponse,
  reply: Reply,
  intake: Intake,
  mostBytes: number,
  take: (chunk: Chunk, isLast: boolean) => void,
): void {
  let length = 0;
  let turn = 0;
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
    // Without chunks, only slices of nodeConnection.ts are small, and these are charged to the client there.
    const isTooMany =
      reply.isChunked && intake.pieceLimit.isExceeded(chunk.byteLength, ++pieces, () => reply.readClient());
    if (length > mostBytes || isTooMany) {
      reply.close();
      return;
    }
    // Chunks that had come before the pause still arrive. A socket that stays paused would take no other request.
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

/** Work on a body, for which the client is charged the reading too. @param free - frees the body's memory */
export function* afterReading(byteCount: number, work: Work, free: () => void): Work {
  yield byteCount * BYTE_MS;
  yield* work;
  free();
}

/** Answers a request without a body, or whose body was dropped. */
export function* answerRead(byteCount: number, reply: Reply, answer: (() => void) | undefined): Work {
  if (byteCount > 0) yield byteCount * BYTE_MS;
  if (!reply.isOver) answer?.();
}

function viewOf(chunk: Chunk): Buffer {
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : Buffer.from(chunk);
}
