/** JSON-RPC over HTTP POST. URL and headers may contain secrets: errors quote neither them nor the node's text. */
import {errors, Pool} from "undici";
import {within} from "../../client/rpc/abortable.ts";
import {RpcError} from "../../client/rpc/rpcError.ts";
import {createRedaction, encodeAuthorization} from "../../client/rpc/secrets.ts";
import {NodeFailure} from "./node.ts";

export interface EndpointSettings {
  /** Sent with every call. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Covers a whole `post`: connecting, and the head and body of the response. */
  readonly timeoutMs: number;
  /** A longer response fails with AnswerTooLong. */
  readonly maxAnswerBytes: number;
  /** Concurrent requests. Others wait, which counts towards their timeout. */
  readonly connections: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly bytes: Buffer;
  /** From the header Retry-After. */
  readonly retryAfterMs: number | undefined;
}

/** The response is longer than `maxAnswerBytes`. */
export class AnswerTooLong extends NodeFailure {}

export class ConnectionLost extends NodeFailure {}

/** Longer delays are cut to this. */
export const MAX_RETRY_AFTER_MS = 300_000;
/** The required format. Date.parse alone accepts almost any text. */
const DATE = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

export class Endpoint {
  /** Removes the secrets of the URL and the headers from a text. */
  readonly redact: (text: string) => string;
  private readonly pool: Pool;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  /** @param url - http or https; its user and password become HTTP basic authentication */
  constructor(
    url: URL,
    private readonly settings: EndpointSettings,
    onDisconnect: () => void = () => {},
  ) {
    this.redact = createRedaction(url, settings.headers ?? {});
    this.pool = new Pool(url.origin, {
      connections: settings.connections,
      pipelining: 1,
      // `post` has one timeout for the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {timeout: settings.timeoutMs},
      maxResponseSize: settings.maxAnswerBytes,
    });
    this.pool.on("disconnect", onDisconnect);
    this.path = url.pathname + url.search;
    this.headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...encodeAuthorization(url),
      ...settings.headers,
    };
  }

  /**
   * Redirects are not followed: only the operator chooses nodes.
   *
   * @param attempts - 2 for a request that may be sent twice: a server may close a keep-alive connection just as it is
   * reused
   * @returns the response, whatever its HTTP status. @throws NodeFailure, or the signal's reason
   */
  async post(
    body: string,
    signal?: AbortSignal,
    onBytes: (bytes: number) => void = () => {},
    attempts: 1 | 2 = 2,
  ): Promise<HttpAnswer> {
    try {
      // undici ignores its signal until it is connected. `within` does not wait for that.
      return await within(this.settings.timeoutMs, "the response", signal, ending =>
        this.attempt(body, ending, onBytes, attempts),
      );
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : this.toFailure(error);
    }
  }

  /** Closes all connections. Unfinished requests fail. */
  close(): Promise<void> {
    return this.pool.destroy();
  }

  private async attempt(
    body: string,
    signal: AbortSignal,
    onBytes: (bytes: number) => void,
    attempts: number,
  ): Promise<HttpAnswer> {
    const {headers, path} = this;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.pool.request({method: "POST", path, headers, body, signal});
        const parts: Buffer[] = [];
        for await (const part of response.body as AsyncIterable<Buffer>) {
          parts.push(part);
          onBytes(part.length);
        }
        const retryAfterMs = parseRetryAfter(response.headers["retry-after"], Date.now());
        return {status: response.statusCode, bytes: Buffer.concat(parts), retryAfterMs};
      } catch (error) {
        if (attempt === attempts || signal.aborted || !isConnectionLost(error)) throw error;
      }
    }
  }

  private toFailure(error: unknown): NodeFailure {
    if (error instanceof NodeFailure) return error;
    if (error instanceof RpcError) return new NodeFailure(`no answer within ${this.settings.timeoutMs} ms`);
    if (error instanceof errors.ResponseExceededMaxSizeError) {
      const {maxAnswerBytes} = this.settings;
      return new AnswerTooLong(`its answer has more than ${maxAnswerBytes} bytes`, {cause: error});
    }
    if (isConnectionLost(error)) return new ConnectionLost("the connection was lost", {cause: error});
    return new NodeFailure(this.describe(error), {cause: error});
  }

  private describe(error: unknown): string {
    if (error instanceof errors.ConnectTimeoutError)
      return `no connection within ${this.settings.timeoutMs} ms`;
    const code = codeOf(error);
    if (code === "ECONNREFUSED") return "connection refused";
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its name cannot be resolved";
    return code === undefined ? "the request failed" : `the request failed (${code})`;
  }
}

function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** The header Retry-After (RFC 9110): seconds, or a date. @returns 0 to MAX_RETRY_AFTER_MS; undefined if neither */
export function parseRetryAfter(value: unknown, nowMs: number): number | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  let waitMs = Number.NaN;
  if (/^[0-9]+$/.test(text)) waitMs = Number(text) * 1000;
  else if (DATE.test(text)) waitMs = Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}
