/** The body of an HTTP answer, no longer than it may be. */
import {RpcError} from "./rpcError.ts";

const FIRST_BYTES = 16_384;
/** A server may announce a length and send nothing. */
const MOST_FIRST_BYTES = 1 << 20;

/**
 * Nothing beyond the limit is kept: a longer body is cancelled. The pieces in which it comes are copied into one array that
 * grows, because a server may send pieces of one byte, and each that is kept takes a hundred.
 *
 * @throws RpcError ANSWER_TOO_LONG; what the stream throws if the connection breaks
 */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  // With the announced length, nothing is copied twice. It is only a hint.
  const announced = Number(response.headers.get("content-length") ?? Number.NaN);
  const firstBytes = announced > 0 ? Math.min(announced, MOST_FIRST_BYTES) : FIRST_BYTES;
  let bytes = new Uint8Array(Math.min(Math.ceil(firstBytes), maxBytes));
  let length = 0;
  while (reader !== undefined) {
    const {done, value} = await reader.read();
    if (done) break;
    const end = length + value.length;
    if (end > maxBytes) {
      // The answer is refused however the cancelling ends.
      reader.cancel().catch(() => {});
      const message = `the answer has more than ${maxBytes} bytes`;
      throw new RpcError("ANSWER_TOO_LONG", message, {status: response.status});
    }
    if (end > bytes.length) {
      const larger = new Uint8Array(Math.min(Math.max(2 * bytes.length, end), maxBytes));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(value, length);
    length = end;
  }
  return bytes.subarray(0, length);
}
