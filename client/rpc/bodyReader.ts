/** The body of an HTTP answer, no longer than it may be. */
import {concatBytes} from "../bytes/byteString.ts";
import {RpcError} from "./rpcError.ts";

/**
 * Nothing beyond the limit is kept: a longer body is cancelled.
 *
 * @throws RpcError ANSWER_TOO_LONG; what the stream throws if the connection breaks
 */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return concatBytes(...chunks);
    length += value.length;
    if (length > maxBytes) {
      // The answer is refused however the cancelling ends.
      reader.cancel().catch(() => {});
      const message = `the answer has more than ${maxBytes} bytes`;
      throw new RpcError("ANSWER_TOO_LONG", message, {status: response.status});
    }
    chunks.push(value);
  }
}
