/** Calls by HTTP POST. URL and headers may contain keys, which no error message shows. */
import {builtinModule} from "../bytes/runtime.ts";
import {CALL_ID, readResult} from "./envelope.ts";
import {RpcError} from "./rpcError.ts";
import {cleanText, createRedaction, redactUrl} from "./secrets.ts";

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  /** No valid answer has more bytes. */
  readonly maxAnswerBytes: number;
  /** Accepts the result as bytes instead of JSON. */
  readonly takesBytes?: boolean;
}

interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

/** For the JSON-RPC envelope, for an error, and for the error page of a proxy, whose status must be reported. */
const MORE_BYTES = 65_536;
/** Characters of the system's reason for a broken connection. */
const MAX_REASON = 200;
const JSON_TYPE = "application/json";
const BYTES_TYPE = "application/octet-stream";

/** @returns the result, parsed and not checked; a Uint8Array if the server sent bytes. @throws RpcError */
export async function post(
  endpoint: Endpoint,
  {method, params, maxAnswerBytes, takesBytes = false}: RpcRequest,
  signal: AbortSignal,
): Promise<unknown> {
  // Only errors need it.
  const redact = (text: string) => createRedaction(new URL(endpoint.url), endpoint.headers)(text);
  const maxBytes = maxAnswerBytes + MORE_BYTES;
  const accept = takesBytes ? `${BYTES_TYPE}, ${JSON_TYPE}` : JSON_TYPE;
  let response: Response | undefined;
  let bytes: Uint8Array;
  try {
    response = await endpoint.fetch(endpoint.url, {
      method: "POST",
      headers: {...endpoint.headers, "content-type": JSON_TYPE, accept},
      body: JSON.stringify({jsonrpc: "2.0", id: CALL_ID, method, params}),
      signal,
      // A redirected POST would become a GET. So a redirection is an error.
      redirect: "manual",
    });
    bytes = await readBody(response, maxBytes);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    const url = new URL(endpoint.url);
    const problem = response === undefined ? "no answer" : "the answer broke off";
    const reason = cleanText(reasonOf(error), redact, MAX_REASON) + corsAdvice(url);
    throw new RpcError("UNREACHABLE", `${redactUrl(url)}: ${problem}: ${reason}`, {cause: error});
  }
  const {status, headers} = response;
  if (status !== 200) throw readRefusal(bytes, maxBytes, redact, status, headers);
  const [contentType = ""] = (headers.get("content-type") ?? "").split(";");
  if (takesBytes && contentType.trim().toLowerCase() === BYTES_TYPE) return bytes;
  return readResult(bytes, maxBytes, redact, {status});
}

/** The system's reason, which Node's fetch has as the cause, or as one cause for each address. */
function reasonOf(error: unknown): string {
  const {message, cause} = error as Error & {cause?: Partial<AggregateError>};
  return cause?.message || cause?.errors?.[0]?.message || message;
}

/** A browser gives no reason. The most frequent one is that the server does not allow pages of this origin. */
function corsAdvice({origin}: URL): string {
  const page = (globalThis as {location?: {readonly origin: string}}).location?.origin;
  if (page === undefined || page === origin || builtinModule("node:os") !== undefined) return "";
  return `; pages of ${page} need a server with --cors ${page}; the browser's console has the reason`;
}

/** @returns the server's error if the body has one, and not the error page of a proxy */
function readRefusal(
  bytes: Uint8Array,
  maxBytes: number,
  redact: (text: string) => string,
  status: number,
  headers: Headers,
): RpcError {
  const retryAfter = headers.get("retry-after") ?? "";
  const retryAfterMs = /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
  const details = {status, retryAfterMs};
  try {
    readResult(bytes, maxBytes, redact, details);
  } catch (error) {
    if (error instanceof RpcError && typeof error.code === "number") return error;
  }
  return new RpcError("HTTP_STATUS", `the server answers with HTTP status ${status}`, details);
}

const FIRST_BYTES = 16_384;
/** A server may announce a length and send nothing. */
const MOST_FIRST_BYTES = 1 << 20;

/**
 * Reads the body of an HTTP answer. Its chunks are copied into one growing array: a server may send chunks of one byte,
 * and each chunk object takes a hundred.
 *
 * @throws RpcError ANSWER_TOO_LONG; what the stream throws if the connection breaks
 */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  // The announced length avoids copies. It is only a hint.
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
