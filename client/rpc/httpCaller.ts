/** Calls over HTTP. Those that are made in the same tick go out together, as JSON-RPC batches. */
import {answerBytes, sendCalls} from "./callBatch.ts";
import {Exchange, type ExchangeSettings} from "./exchange.ts";
import {PendingCall} from "./pendingCall.ts";
import type {RetrySettings} from "./retryWaits.ts";
import type {RpcCaller, RpcRequest} from "./rpcCaller.ts";

/** A fifth of what a proofd takes unless it is told otherwise. */
const MAX_BATCH_TEXT = 1 << 20;

export interface HttpCallerSettings extends ExchangeSettings {
  /** Of one request, from its sending to the end of its answer. Each try has this time. */
  readonly timeoutMs: number;
  /** Calls of one batch. 1: no batches. */
  readonly maxBatchCalls: number;
  /** A batch is closed when the answers to its calls could be longer than this together. */
  readonly maxBatchAnswerBytes: number;
}

export class HttpCaller implements RpcCaller {
  private readonly exchange: Exchange;
  private gathered: PendingCall[] = [];
  private lastId = 0;
  readonly retry: RetrySettings;

  constructor(private readonly settings: HttpCallerSettings) {
    this.retry = settings.retry;
    this.exchange = new Exchange(settings);
  }

  call(request: RpcRequest, signal?: AbortSignal): Promise<unknown> {
    const call = new PendingCall(++this.lastId, request, signal);
    if (request.takesBytes === true) this.send([call]);
    else this.gather(call);
    return call.promise;
  }

  private gather(call: PendingCall): void {
    // A microtask runs when the code that makes calls, and what follows from promises that are settled already, is done.
    if (this.gathered.length === 0) queueMicrotask(() => this.flush());
    this.gathered.push(call);
  }

  private flush(): void {
    const calls = this.gathered;
    this.gathered = [];
    for (const batch of this.divide(calls)) this.send(batch);
  }

  /** @returns batches in order, each within the limits or of one call */
  private divide(calls: readonly PendingCall[]): PendingCall[][] {
    const {maxBatchCalls, maxBatchAnswerBytes} = this.settings;
    const batches: PendingCall[][] = [];
    let textLength = 0;
    let bytes = 0;
    for (const call of calls) {
      textLength += call.text.length;
      bytes += answerBytes(call);
      const last = batches.at(-1);
      const isFull = textLength > MAX_BATCH_TEXT || bytes > maxBatchAnswerBytes;
      if (last !== undefined && last.length < maxBatchCalls && !isFull) last.push(call);
      else {
        batches.push([call]);
        textLength = call.text.length;
        bytes = answerBytes(call);
      }
    }
    return batches;
  }

  private send(calls: readonly PendingCall[]): void {
    // It settles the calls, whose promises their callers have.
    void sendCalls(this.exchange, calls, this.settings.timeoutMs);
  }
}
