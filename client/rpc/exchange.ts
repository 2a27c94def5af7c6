/** Requests and answers over HTTP: how many at a time, and what is tried again. Every call may be: none changes anything. */
import {sleep} from "./abortable.ts";
import {readRefusal} from "./envelope.ts";
import {Gate} from "./gate.ts";
import {type Endpoint, type HttpAnswer, type Post, post} from "./httpPost.ts";
import {type RetrySettings, retryWaitMs} from "./retryWaits.ts";
import {RpcError} from "./rpcError.ts";

/** The server, or a proxy before it, is busy or away. */
const LATER = [429, 502, 503, 504];

export interface ExchangeSettings extends Endpoint {
  readonly retry: RetrySettings;
  /** Requests at a time. */
  readonly concurrency: number;
}

interface Failure {
  readonly error: RpcError;
  readonly retryAfterMs?: number | undefined;
}

export class Exchange {
  private readonly gate: Gate;

  constructor(private readonly settings: ExchangeSettings) {
    this.gate = new Gate(settings.concurrency);
  }

  /**
   * A request that waits for its next try keeps its place, so that a busy server gets fewer new ones.
   *
   * @returns an answer of status 200
   * @throws RpcError; the signal's reason
   */
  send(request: Post, signal: AbortSignal): Promise<HttpAnswer> {
    return this.gate.run(async () => {
      for (let tries = 1; ; tries++) {
        signal.throwIfAborted();
        const outcome = await this.try(request, signal);
        if (!("error" in outcome)) return outcome;
        const waitMs = retryWaitMs(this.settings.retry, tries, outcome.retryAfterMs);
        if (waitMs === undefined) throw outcome.error;
        await sleep(waitMs, signal);
      }
    });
  }

  /** @returns a failure that may pass. @throws RpcError for one that does not */
  private async try(request: Post, signal: AbortSignal): Promise<HttpAnswer | Failure> {
    let answer: HttpAnswer;
    try {
      answer = await post(this.settings, request, signal);
    } catch (error) {
      if (error instanceof RpcError && error.code === "UNREACHABLE") return {error};
      throw error;
    }
    const {status, bytes, retryAfterMs} = answer;
    if (status === 200) return answer;
    const message = `the server answers with HTTP status ${status}`;
    const error =
      readRefusal(bytes, status, request.maxAnswerBytes) ?? new RpcError("HTTP_STATUS", message, {status});
    if (LATER.includes(status)) return {error, retryAfterMs};
    throw error;
  }
}
