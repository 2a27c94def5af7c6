/**
 * Collects a request's body up to a limit. All bodies that are being received share a second limit, so that many slow
 * writers cannot fill the memory.
 */
import type {HttpResponse} from "uWebSockets.js";
import type {SharedBytes} from "../request/sharedBytes.ts";

/** Exactly one of these is called, unless the client goes away first. */
interface BodyOutcome {
  /** @param body - may be read during the call only */
  readonly onBody: (body: Buffer) => void;
  /** More bytes came than a body may have. The rest is read and dropped. @param got - bytes that have come so far */
  readonly onTooLarge: (got: number) => void;
  /** The bodies that are being received would exceed a common limit. */
  readonly onNoRoom: (limit: number, got: number) => void;
}

const FIRST_BYTES = 16 * 1024;

/** @returns a function that gives up the memory. Call it if the client goes away */
export function collectBody(
  response: HttpResponse,
  receiving: SharedBytes,
  readClient: () => string,
  outcome: BodyOutcome,
): () => void {
  const limit = receiving.bodyLimit;
  let client: string | undefined;
  let collected: Buffer | undefined;
  let length = 0;
  let isSettled = false;
  const release = () => {
    if (collected !== undefined) receiving.remove(client as string, collected.length);
    collected = undefined;
    isSettled = true;
  };
  response.onData((chunk, isLast) => {
    if (isSettled) return;
    const end = length + chunk.byteLength;
    if (end > limit) {
      release();
      outcome.onTooLarge(end);
      return;
    }
    if (collected === undefined && isLast) {
      isSettled = true;
      outcome.onBody(Buffer.from(chunk));
      return;
    }
    // One buffer that doubles. As a list of chunks, a body sent byte by byte would take a hundred times its size.
    if (collected === undefined || end > collected.length) {
      const byteCount = Math.min(limit, Math.max(FIRST_BYTES, end * 2));
      client ??= readClient();
      const more = byteCount - (collected?.length ?? 0);
      const excess = receiving.refuse(client, more);
      if (excess !== undefined) {
        release();
        outcome.onNoRoom(excess.limit, excess.got);
        return;
      }
      receiving.add(client, more);
      const grown: Buffer = Buffer.allocUnsafeSlow(byteCount);
      collected?.copy(grown, 0, 0, length);
      collected = grown;
    }
    // uWebSockets.js takes the chunk's memory back after this call.
    collected.set(new Uint8Array(chunk), length);
    length = end;
    if (!isLast) return;
    const body = collected.subarray(0, length);
    release();
    outcome.onBody(body);
  });
  return release;
}
