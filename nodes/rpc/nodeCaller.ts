/** Sends JSON-RPC calls and batches to one node. */
import {sleep} from "../../client/rpc/abortable.ts";
import {cleanText} from "../../client/rpc/secrets.ts";
import {AnswerTooLong, ConnectionLost, Endpoint, type EndpointSettings, type HttpAnswer} from "./endpoint.ts";
import {encodeCall, type Node, type NodeCall, NodeFailure, NodeRefusal} from "./node.ts";
import {InternalError, toNodeError} from "./nodeError.ts";
import {RequestSize} from "./requestSize.ts";
import {type Answer, type ErrorAnswer, parseAnswer, parseBatchAnswer} from "./response.ts";

/** Nodes and providers accept 3 to 1024 calls in a batch. More would save little. */
export const MAX_BATCH_CALLS = 100;
/** Successful batches after a refusal before a larger one is tried. */
const ANSWERS_BEFORE_GROWTH = 64;
/** Delays before a call is retried after an internal error of the node. Then the work fails. */
const RETRY_WAITS_MS = [25, 100];
/** Two calls may have to reach the same node behind a load balancer, as in rollupEvents.ts. */
const QUESTION_CALLS = 2;
/** Longest reason of a failure, which may quote values from the node. */
const MAX_REASON = 500;
/** Longest text shown of a response with another status, such as geth's "invalid host specified". */
const MAX_STATUS_TEXT = 100;
const MAX_STATUS_BYTES = 1000;
const OK = 200;

/** Posts a body for one unit of work. */
type Send = (body: string) => Promise<HttpAnswer>;

export class NodeCaller {
  private readonly endpoint: Endpoint;
  private nextId = 0;
  private readonly batchSize = new RequestSize(MAX_BATCH_CALLS, MAX_BATCH_CALLS, ANSWERS_BEFORE_GROWTH);

  /** @param name - for logs and messages, without secrets. @param onDisconnect - whenever a connection ends */
  constructor(
    url: URL,
    settings: EndpointSettings,
    onDisconnect: () => void,
    readonly name: string = url.origin,
  ) {
    this.endpoint = new Endpoint(url, settings, onDisconnect);
  }

  /** @returns the node for one unit of work, whose requests the signal aborts. @param onBytes - as in Nodes.use */
  bind(signal: AbortSignal, onBytes?: (bytes: number) => void): Node {
    const send: Send = body => this.endpoint.post(body, signal, onBytes);
    return {
      name: this.name,
      request: (method, params) => this.askWithRetries(send, {method, params}, signal),
      requestAll: calls => this.askAll(send, calls, signal),
    };
  }

  describe({message}: NodeFailure): string {
    return cleanText(message, this.endpoint.redact, MAX_REASON);
  }

  /** Ends every connection. Unfinished calls fail. */
  close(): Promise<void> {
    return this.endpoint.close();
  }

  /** Retries a call after an internal error of the node, which is cheaper than restarting the work. */
  private async askWithRetries(send: Send, call: NodeCall, signal: AbortSignal): Promise<unknown> {
    for (const waitMs of RETRY_WAITS_MS) {
      try {
        return await this.ask(send, call);
      } catch (error) {
        if (!(error instanceof InternalError)) throw error;
      }
      await sleep(waitMs, signal);
    }
    return this.ask(send, call);
  }

  private async ask(send: Send, call: NodeCall): Promise<unknown> {
    const id = this.nextId++;
    const answer = await send(JSON.stringify(encodeCall(call, id)));
    const read = this.read(answer, id);
    if (read.member === "error") throw this.errorOf(read.error, call, answer);
    return read.result;
  }

  private async askAll(send: Send, calls: readonly NodeCall[], signal: AbortSignal): Promise<unknown[]> {
    const results: unknown[] = [];
    while (results.length < calls.length) {
      const part = calls.slice(results.length, results.length + this.batchSize.value);
      results.push(...(await this.askPart(send, part, signal)));
    }
    return results;
  }

  /**
   * Sends a batch. Providers refuse one that is too large with any status or error, or by hanging up. So the first
   * refused call is sent again alone. If it succeeds, the batch was too large, and the next batches are smaller.
   *
   * @returns the results of the first calls, at least one
   */
  private async askPart(send: Send, calls: readonly NodeCall[], signal: AbortSignal): Promise<unknown[]> {
    const askAlone = (at: number) => this.askWithRetries(send, calls[at] as NodeCall, signal);
    // Some nodes do not support batches, even of one call.
    const results = calls.length === 1 ? [await askAlone(0)] : await this.askBatch(send, calls);
    if (results.length === calls.length) {
      if (calls.length >= this.batchSize.value) this.batchSize.noteAnswer();
      return results;
    }
    results.push(await askAlone(results.length));
    if (calls.length <= QUESTION_CALLS) {
      // It may have been transient. Batches are refused only if each call succeeds alone, but not both together.
      const again = await this.askBatch(send, calls);
      if (again.length === calls.length) return again;
      if (results.length < calls.length) results.push(await askAlone(results.length));
    }
    this.batchSize.noteRefusal(calls.length);
    return results;
  }

  /**
   * @returns the results of the calls before the first that may have been refused because the batch was too large
   * @throws NodeFailure; NodeRefusal for a call that is refused for another reason
   */
  private async askBatch(send: Send, calls: readonly NodeCall[]): Promise<unknown[]> {
    const firstId = this.nextId;
    this.nextId += calls.length;
    const body = JSON.stringify(calls.map((call, at) => encodeCall(call, firstId + at)));
    const http = await send(body).catch((error: unknown) => {
      if (error instanceof AnswerTooLong || error instanceof ConnectionLost) return undefined;
      throw error;
    });
    const answers = http && findBatchAnswer(http.bytes, firstId, calls.length);
    if (http === undefined || answers === undefined) return [];
    const results: unknown[] = [];
    for (const [at, one] of answers.entries()) {
      if (one.member === "error") {
        const error = this.errorOf(one.error, calls[at] as NodeCall, http);
        // If the batch was too large, all later calls are refused too.
        const isOne = answers.slice(at).some(({member}) => member === "result");
        if (error instanceof NodeRefusal && (isOne || error.isCallError)) throw error;
        break;
      }
      results.push(one.result);
    }
    return results;
  }

  /** A JSON-RPC body counts whatever the status: ranges of logs are refused with 400, 413, 500 and others. */
  private read({status, bytes, retryAfterMs}: HttpAnswer, id: number): Answer {
    try {
      return parseAnswer(bytes, id, true);
    } catch (error) {
      if (status === OK) throw error;
    }
    // Truncated after secrets are removed, since half of a secret would not be recognized.
    const text = cleanText(
      bytes.toString("utf8", 0, MAX_STATUS_BYTES),
      this.endpoint.redact,
      MAX_STATUS_TEXT,
    );
    const said = /^[^<>{}]+$/.test(text) ? `: ${text}` : "";
    throw new NodeFailure(`it answered HTTP ${status}${said}`, {retryAfterMs});
  }

  private errorOf(error: ErrorAnswer, {method}: NodeCall, http: HttpAnswer): NodeFailure | NodeRefusal {
    return toNodeError(error, method, this.name, this.endpoint.redact, http);
  }
}

/** @returns undefined if the body is not a response to the batch, such as a single error */
function findBatchAnswer(bytes: Buffer, firstId: number, count: number): Answer[] | undefined {
  try {
    return parseBatchAnswer(bytes, firstId, count);
  } catch (error) {
    if (error instanceof NodeFailure) return undefined;
    throw error;
  }
}
