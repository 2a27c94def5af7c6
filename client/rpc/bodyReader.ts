/** The body of an HTTP answer, no longer than it may be. */
import {RpcError} from "./rpcError.ts";

const FIRST_BYTES = 16_384;
/** A server may announce a length and send nothing. */
const MOST_FIRST_BYTES = 1 << 20;

/**
 * The pieces in which it comes are copied into one array that grows, because a server may send pieces of one byte, and each that is
 * kept takes a hundred.
 *
 * @throws RpcError ANSWER_TOO_LONG; what the stream throws if the connection breaks
 */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  // With the announced length, nothing is copied twice. It is only a hint.
  const announced = Number(response.headers.get("content-length"));
  let bytes = new Uint8Array(Math.min(announced > 0 ? announced : FIRST_BYTES, MOST_FIRST_BYTES, maxBytes));
  let length = 0;
  while (reader !== undefined) {
    const {done, value} = await reader.read();
    if (done) break;
    const end = length + value.length;
    if (end > maxBytes) {
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
