/**
 * Collects a request's body up to a limit. All bodies that are being received share a second limit, so that many slow
 * writers cannot fill the memory.
 */
import type {HttpResponse} from "../listener/exchange.ts";
import type {ByteHolder, Excess, SharedBytes} from "../rpc/sharedBytes.ts";
import type {Reply} from "./reply.ts";

/** Exactly one of these is called for a body, unless the client goes away first. */
interface BodyTaker {
  /** @param body - may be read during the call only */
  takeBody(reply: Reply, body: Buffer): void;
  /** More bytes came than a body may have. The rest is read and dropped. @param got - bytes that have come so far */
  refuseLarge(reply: Reply, got: number): void;
  /** The bodies that are being received would exceed a common limit. */
  refuseRoom(reply: Reply, excess: Excess): void;
}

const FIRST_BYTES = 16 * 1024;

/** @returns a function that gives up the memory. Call it if the client goes away */
export function collectBody(
  response: HttpResponse,
  receiving: SharedBytes,
  reply: Reply,
  taker: BodyTaker,
): () => void {
  const limit = receiving.bodyLimit;
  let holder: ByteHolder | undefined;
  let collected: Buffer | undefined;
  let length = 0;
  let isSettled = false;
  const release = () => {
    if (collected !== undefined) receiving.remove(holder as ByteHolder, collected.length);
    collected = undefined;
    isSettled = true;
  };
  const giveWay = (excess: Excess) => {
    release();
    taker.refuseRoom(reply, excess);
  };
  response.onData((chunk, isLast) => {
    if (isSettled) return;
    const end = length + chunk.byteLength;
    if (end > limit) {
      release();
      taker.refuseLarge(reply, end);
      return;
    }
    if (collected === undefined && isLast) {
      isSettled = true;
      taker.takeBody(reply, viewOf(chunk));
      return;
    }
    // One buffer that doubles. As a list of chunks, a body sent byte by byte would take a hundred times its size.
    if (collected === undefined || end > collected.length) {
      const byteCount = Math.min(limit, Math.max(FIRST_BYTES, end * 2));
      holder ??= {client: reply.readClient(), giveWay};
      const more = byteCount - (collected?.length ?? 0);
      const excess = receiving.add(holder, more);
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
    if (!isLast) return;
    const body = collected.subarray(0, length);
    release();
    taker.takeBody(reply, body);
  });
  return release;
}

function viewOf(chunk: ArrayBuffer | Uint8Array): Buffer {
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : Buffer.from(chunk);
}
