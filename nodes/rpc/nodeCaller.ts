/** Calls one node: makes the JSON-RPC of a call or a batch, and reads the answer. */
import {setTimeout as sleep} from "node:timers/promises";
import {cleanText} from "../../client/rpc/secrets.ts";
import {AnswerTooLong, Endpoint, type EndpointSettings, type HttpAnswer} from "./endpoint.ts";
import {encodeCall, type Node, type NodeCall, NodeFailure} from "./node.ts";
import {type Answer, parseAnswer, parseBatchAnswer} from "./nodeAnswer.ts";
import {InternalError, toNodeError} from "./nodeError.ts";

/** Nodes and providers take 100 to 1024 calls in one request. More would save little. */
export const MAX_BATCH_CALLS = 100;
/** geth's code for the calls of a batch whose answers would be too long together. */
const RESPONSE_TOO_LARGE = -32003;
/** Waits before a call is sent again because the node had an internal error. After the last one, the work has failed. */
const INSIST_MS = [25, 100];
/** Two calls may be one question, of which one node behind the URL must answer both (rollupEvents.ts). */
const MAX_QUESTION_CALLS = 2;
/** Longest reason of a failure. It may quote values that the node wrote. */
const MAX_REASON = 500;
/** Longest text that is shown of an answer with another status, such as geth's "invalid host specified". Pages are not shown. */
const MAX_STATUS_TEXT = 100;
const MAX_STATUS_BYTES = 1000;
const OK = 200;
/** Some providers send a JSON-RPC error with this status, for example for a range of logs that is too long. */
const BAD_REQUEST = 400;
const CONTENT_TOO_LARGE = 413;

/** Posts a body for one piece of work. */
type Send = (body: string) => Promise<HttpAnswer>;

/** The batch as a whole was refused, or its answer is too long. Half of it may work. */
class BatchTooLarge extends Error {}

export class NodeCaller {
  private readonly endpoint: Endpoint;
  private nextId = 0;
  /** Calls in one batch. Fewer once the node has refused a batch. */
  private batchCalls = MAX_BATCH_CALLS;

  /**
   * @param onDisconnect - called whenever a connection to the node ends
   * @param name - for logs and messages: no keys
   */
  constructor(
    url: URL,
    settings: EndpointSettings,
    onDisconnect: () => void,
    readonly name: string = url.origin,
  ) {
    this.endpoint = new Endpoint(url, settings, onDisconnect);
  }

  /**
   * @param onBytes - called with the length of each part of an answer
   * @returns the node for one piece of work. Its requests end with the signal
   */
  bind(signal: AbortSignal, onBytes?: (bytes: number) => void): Node {
    const send: Send = body => this.endpoint.post(body, signal, onBytes);
    return {
      name: this.name,
      request: (method, params) => insist(() => this.ask(send, {method, params}), signal),
      requestAll: calls => this.askAll(send, calls, signal),
    };
  }

  /** Why work failed, for logs. */
  describe({message}: NodeFailure): string {
    return cleanText(message, this.endpoint.redact, MAX_REASON);
  }

  /** Ends every connection. Unfinished calls fail. */
  close(): Promise<void> {
    return this.endpoint.close();
  }

  private async ask(send: Send, call: NodeCall): Promise<unknown> {
    const id = this.nextId++;
    const answer = await send(JSON.stringify(encodeCall(call, id)));
    return this.resultOf(
      this.read(answer, bytes => parseAnswer(bytes, id)),
      call,
    );
  }

  private async askAll(send: Send, calls: readonly NodeCall[], signal: AbortSignal): Promise<unknown[]> {
    const results: unknown[] = [];
    let count = this.batchCalls;
    while (results.length < calls.length) {
      const part = calls.slice(results.length, results.length + count);
      const isQuestion = part.length <= MAX_QUESTION_CALLS;
      const ask = () => this.askBatch(send, part);
      try {
        results.push(...(await (isQuestion ? insist(ask, signal) : ask())));
      } catch (error) {
        // A part of the calls meets fewer internal errors, and fewer are sent again.
        const isPassing = error instanceof InternalError && !isQuestion;
        if (!(error instanceof BatchTooLarge || isPassing)) throw error;
        count = Math.ceil(part.length / 2);
      }
    }
    return results;
  }

  /** @throws BatchTooLarge only for two calls or more */
  private async askBatch(send: Send, calls: readonly NodeCall[]): Promise<unknown[]> {
    // Sent as a single call, because some nodes do not support batches.
    if (calls.length === 1) return [await this.ask(send, calls[0])];
    const firstId = this.nextId;
    this.nextId += calls.length;
    const body = JSON.stringify(calls.map((call, at) => encodeCall(call, firstId + at)));
    const answer = await send(body).catch((error: unknown) => {
      throw error instanceof AnswerTooLong ? new BatchTooLarge() : error;
    });
    const answers =
      answer.status === CONTENT_TOO_LARGE
        ? undefined
        : this.read(answer, bytes => parseBatchAnswer(bytes, firstId, calls.length));
    if (!Array.isArray(answers)) {
      const refusal = answers && toNodeError(answers, "a batch", this.name, this.endpoint.redact);
      if (refusal instanceof NodeFailure) throw refusal;
      this.batchCalls = Math.min(this.batchCalls, Math.ceil(calls.length / 2));
      throw new BatchTooLarge();
    }
    return answers.map((one, at) => {
      if (one.member === "error" && one.error.code === RESPONSE_TOO_LARGE) throw new BatchTooLarge();
      return this.resultOf(one, calls[at]);
    });
  }

  private read<Parsed>({status, bytes, retryAfterMs}: HttpAnswer, parse: (bytes: Buffer) => Parsed): Parsed {
    if (status === OK) return parse(bytes);
    if (status === BAD_REQUEST) {
      try {
        return parse(bytes);
      } catch {
        // The status says more than the body's fault does.
      }
    }
    // Cut after keys are taken out: one that is cut in two would not be found.
    const text = cleanText(
      bytes.toString("utf8", 0, MAX_STATUS_BYTES),
      this.endpoint.redact,
      MAX_STATUS_TEXT,
    );
    const said = /^[^<>{}]+$/.test(text) ? `: ${text}` : "";
    throw new NodeFailure(`it answered HTTP ${status}${said}`, {retryAfterMs});
  }

  private resultOf(answer: Answer, {method}: NodeCall): unknown {
    if (answer.member === "result") return answer.result;
    throw toNodeError(answer.error, method, this.name, this.endpoint.redact);
  }
}

/** Asks again at once while the node has an internal error: to begin the whole work again takes longer. */
async function insist<Result>(ask: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (const waitMs of INSIST_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof InternalError)) throw error;
    }
    await sleep(waitMs, undefined, {signal}).catch(() => signal.throwIfAborted());
  }
  return ask();
}
