/**
 * Collects a request's body up to a limit. All bodies that are being received or wait for their turn share a second limit, so that many
 * slow writers cannot fill the memory. While others have their turns, no more of a body is read.
 */
import type {HttpResponse} from "../listener/exchange.ts";
import type {ByteHolder, Excess, SharedBytes} from "../rpc/sharedBytes.ts";
import type {Reply} from "./reply.ts";

/** One of `takeBody`, `refuseLarge` and `refuseRoom` is called for a body, unless the client goes away first. */
interface BodyTaker {
  /** Whether the body may be read during the call only: the taker is done with it then. */
  takesAtOnce(byteCount: number): boolean;
  /** @param free - gives up the body's memory; undefined: the body may be read during the call only */
  takeBody(reply: Reply, body: Buffer, free: (() => void) | undefined): void;
  /**
   * A part has come, and there is more.
   *
   * @param tookMs - time that it took to take it
   * @returns whether the taker will call `resume`, and no more may come before that
   */
  holdsUp(reply: Reply, tookMs: number, resume: () => void): boolean;
  /** More bytes came than a body may have. The rest is read and dropped. @param got - bytes that have come so far */
  refuseLarge(reply: Reply, got: number): void;
  /** The bodies that are held would exceed a common limit. */
  refuseRoom(reply: Reply, excess: Excess): void;
}

const FIRST_BYTES = 16 * 1024;

/** @returns a function that gives up the memory. Call it if the client goes away */
export function collectBody(
  response: HttpResponse,
  held: SharedBytes,
  reply: Reply,
  taker: BodyTaker,
): () => void {
  const limit = held.bodyLimit;
  let holder: ByteHolder | undefined;
  let collected: Buffer | undefined;
  let length = 0;
  let isSettled = false;
  let isPaused = false;
  const release = () => {
    isPaused = false;
    if (collected !== undefined) held.remove(holder as ByteHolder, collected.length);
    collected = undefined;
    isSettled = true;
  };
  const resume = () => {
    if (!isPaused) return;
    isPaused = false;
    response.resume();
  };
  const giveWay = (excess: Excess) => {
    resume();
    // Also ends the work on a body that is whole.
    reply.onAborted?.();
    taker.refuseRoom(reply, excess);
  };
  response.onData((chunk, isLast) => {
    if (isSettled) return;
    const end = length + chunk.byteLength;
    // What had come before the pause comes in spite of it. A socket that stays paused would take no other request.
    if (isLast || end > limit) resume();
    if (end > limit) {
      release();
      taker.refuseLarge(reply, end);
      return;
    }
    if (collected === undefined && isLast && taker.takesAtOnce(end)) {
      isSettled = true;
      taker.takeBody(reply, viewOf(chunk), undefined);
      return;
    }
    const startMs = performance.now();
    // One buffer that doubles, and soon has all that a body may have. As a list of chunks, a body sent byte by byte would take a
    // hundred times its size.
    if (collected === undefined || end > collected.length) {
      const grownBytes = end * 2 > limit / 4 ? limit : Math.max(FIRST_BYTES, end * 2);
      const byteCount = isLast ? end : grownBytes;
      holder ??= {client: reply.readClient(), giveWay};
      const more = byteCount - (collected?.length ?? 0);
      const excess = held.add(holder, more);
      if (excess !== undefined) {
        giveWay(excess);
        return;
      }
      const grown: Buffer = Buffer.allocUnsafeSlow(byteCount);
      collected?.copy(grown, 0, 0, length);
      collected = grown;
    }
    collected.set(viewOf(chunk), length);
    length = end;
    if (isLast) {
      isSettled = true;
      taker.takeBody(reply, collected.subarray(0, length), release);
    } else if (!isPaused && taker.holdsUp(reply, performance.now() - startMs, resume)) {
      isPaused = true;
      response.pause();
    }
  });
  return release;
}

function viewOf(chunk: ArrayBuffer | Uint8Array): Buffer {
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : Buffer.from(chunk);
}
