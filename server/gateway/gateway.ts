/**
 * Forwards calls to another node, `--gateway URL`, and returns its answers under the callers' ids.
 *
 *   call --> {"jsonrpc":"2.0","id":<ours>,"method":<the caller's>,"params":<the caller's>} --> POST URL
 *   call <-- {"jsonrpc":"2.0","id":<theirs>,"result" or "error": <text as the upstream wrote it>} <--
 *
 * Anything but a JSON-RPC answer is the failure UPSTREAM_DOWN. Its detail goes to the caller. So it contains neither the
 * URL (paths and queries may hold keys) nor any text of the upstream.
 */
import type {Logger} from "pino";
import {errors, Pool} from "undici";
import {encodeResponse, SEPARATOR} from "../../workers/job/answers.ts";
import type {TaskAnswers} from "../answer/taskAnswers.ts";
import {MAX_ESTIMATE_TEXT_BYTES} from "../limits.ts";
import {OutageLog} from "./outageLog.ts";
import {readUpstreamAnswer, UpstreamError} from "./upstreamAnswer.ts";

/** Calls that the upstream has at the same time. */
export const MAX_CONNECTIONS = 64;
/** For connecting, head and body together (docs/json-rpc.md). */
const TIMEOUT_MS = 10_000;
/** One retry, since the upstream may close a kept-alive connection just when it is used again. */
const ATTEMPTS = 2;
const OK = 200;

export class Gateway {
  private readonly pool: Pool;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly timeoutMs: number;
  private readonly outages: OutageLog;
  private callCount = 0;

  /** @param url - http or https. Its user and password are sent as basic authorization */
  constructor(url: URL, log: Logger, timeoutMs: number = TIMEOUT_MS) {
    this.pool = new Pool(url.origin, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      // `post` has one time-out for the whole call.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {timeout: timeoutMs},
      maxResponseSize: MAX_ESTIMATE_TEXT_BYTES,
    });
    this.path = url.pathname + url.search;
    const headers = {"content-type": "application/json", accept: "application/json"};
    const authorization = encodeAuthorization(url);
    this.headers = authorization === undefined ? headers : {...headers, authorization};
    this.timeoutMs = timeoutMs;
    this.outages = new OutageLog(log);
  }

  /**
   * Sends a call. The call must change nothing, because it may be sent twice.
   *
   * @param paramsText - JSON text of the call's parameters, an array
   * @param idText - JSON text of the caller's id
   * @returns one answer. The promise never rejects
   */
  async forward(method: string, paramsText: string, idText: string): Promise<TaskAnswers> {
    const id = this.callCount++;
    try {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
      const {member, text: value, code} = readUpstreamAnswer(await this.post(body), id);
      this.outages.noteAnswer();
      const text = Buffer.from(encodeResponse(idText, member, value) + SEPARATOR);
      return {text, ends: Uint32Array.of(text.length), failures: [], codes: [code]};
    } catch (error) {
      const reason = this.describe(error);
      this.outages.noteFailure(reason, error);
      const detail = `the gateway that answers ${method} for this node is down: ${reason}`;
      const failures = [{call: 0, failure: "UPSTREAM_DOWN", detail}] as const;
      return {text: new Uint8Array(0), ends: Uint32Array.of(0), failures, codes: []};
    }
  }

  /** Ends every connection. Unfinished calls fail. */
  close(): Promise<void> {
    this.outages.end();
    return this.pool.destroy();
  }

  /** @throws UpstreamError, or what undici throws */
  private async post(body: string): Promise<Buffer> {
    const timeout = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // undici ignores the signal until it is connected, so the time-out also ends the wait itself.
    const timedOut = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new UpstreamError(`no answer within ${this.timeoutMs} ms`);
        reject(error);
        timeout.abort(error);
      }, this.timeoutMs);
    });
    try {
      return await Promise.race([this.attempt(body, timeout.signal), timedOut]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async attempt(body: string, signal: AbortSignal): Promise<Buffer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.postOnce(body, signal);
      } catch (error) {
        // The call changes nothing, so sending it twice does no harm.
        if (attempt === ATTEMPTS || signal.aborted || !isConnectionLost(error)) throw error;
      }
    }
  }

  private async postOnce(body: string, signal: AbortSignal): Promise<Buffer> {
    const response = await this.pool.request({
      method: "POST",
      path: this.path,
      headers: this.headers,
      body,
      signal,
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    // Redirects fail too: only the operator chooses the upstream.
    if (response.statusCode !== OK) throw new UpstreamError(`it answered HTTP ${response.statusCode}`);
    return bytes;
  }

  /** Describes the failure for the caller, without any address or text of the upstream. */
  private describe(error: unknown): string {
    if (error instanceof UpstreamError) return error.message;
    if (error instanceof errors.ResponseExceededMaxSizeError)
      return `its answer has more than ${MAX_ESTIMATE_TEXT_BYTES} bytes`;
    if (error instanceof errors.ConnectTimeoutError) return `no connection within ${this.timeoutMs} ms`;
    const code = codeOf(error);
    if (code === "ECONNREFUSED") return "connection refused";
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its name cannot be resolved";
    if (isConnectionLost(error)) return "the connection was lost";
    return code === undefined ? "the request failed" : `the request failed (${code})`;
  }
}

function encodeAuthorization(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
