/** One HTTP POST. Messages of errors have neither the URL nor the headers: both may hold keys. */
import {readBody} from "./bodyReader.ts";
import {parseRetryAfter} from "./retryWaits.ts";
import {RpcError} from "./rpcError.ts";

export interface Endpoint {
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

export interface Post {
  readonly body: string;
  /** The content type that is asked for. */
  readonly accept: string;
  /** For connecting, the answer's head and its body together. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Without parameters, in lower case. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** What the header Retry-After asks for. */
  readonly retryAfterMs: number | undefined;
}

/** @throws RpcError UNREACHABLE, TIMEOUT or ANSWER_TOO_LONG; the signal's reason */
export async function post(
  endpoint: Endpoint,
  {body, accept, timeoutMs, maxAnswerBytes}: Post,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  const timer = setTimeout(
    () => stop.abort(new RpcError("TIMEOUT", `no complete answer came within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const response = await endpoint.fetch(endpoint.url, {
      method: "POST",
      headers: {...endpoint.headers, "content-type": "application/json", accept},
      body,
      signal: stop.signal,
      // A POST that is redirected becomes a GET. So the redirection is the answer.
      redirect: "manual",
    });
    const {status, headers} = response;
    const [contentType = ""] = (headers.get("content-type") ?? "").split(";");
    const retryAfter = headers.get("retry-after") ?? "";
    return {
      status,
      contentType: contentType.trim().toLowerCase(),
      bytes: await readBody(response, maxAnswerBytes),
      retryAfterMs: parseRetryAfter(retryAfter, Date.now()),
    };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    stop.signal.throwIfAborted();
    const message = "the server cannot be reached, or closed the connection before its answer was complete";
    throw new RpcError("UNREACHABLE", message, {cause: error});
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
