/** Calls one node: makes the JSON-RPC of a call or a batch, and reads the answer. */
import {sleep} from "../../client/rpc/abortable.ts";
import {cleanText} from "../../client/rpc/secrets.ts";
import {AnswerTooLong, ConnectionLost, Endpoint, type EndpointSettings, type HttpAnswer} from "./endpoint.ts";
import {encodeCall, type Node, type NodeCall, NodeFailure, NodeRefusal} from "./node.ts";
import {type Answer, type ErrorAnswer, parseAnswer, parseBatchAnswer} from "./nodeAnswer.ts";
import {InternalError, toNodeError} from "./nodeError.ts";
import {RequestSize} from "./requestSize.ts";

/** Nodes and providers take 3 to 1024 calls in one request. More would save little. */
export const MAX_BATCH_CALLS = 100;
/** After a refusal, so many batches are answered before a larger one is tried. */
const ANSWERS_BEFORE_GROWTH = 64;
/**
 * Waits before a call is sent again because the node had an internal error. After the last one, the work has failed.
 */
const INSIST_MS = [25, 100];
/** Two calls may be one question, of which one node behind the URL must answer both (rollupEvents.ts). */
const QUESTION_CALLS = 2;
/** Longest reason of a failure. It may quote values that the node wrote. */
const MAX_REASON = 500;
/**
 * Longest text that is shown of an answer with another status, such as geth's "invalid host specified". Pages are not
 * shown.
 */
const MAX_STATUS_TEXT = 100;
const MAX_STATUS_BYTES = 1000;
const OK = 200;

/** Posts a body for one piece of work. */
type Send = (body: string) => Promise<HttpAnswer>;

export class NodeCaller {
  private readonly endpoint: Endpoint;
  private nextId = 0;
  /** How many calls go into one batch. */
  private readonly batchSize = new RequestSize(MAX_BATCH_CALLS, MAX_BATCH_CALLS, ANSWERS_BEFORE_GROWTH);

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
      request: (method, params) => this.insist(send, {method, params}, signal),
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

  /** Asks again at once while the node has an internal error: to begin the whole work again takes longer. */
  private async insist(send: Send, call: NodeCall, signal: AbortSignal): Promise<unknown> {
    for (const waitMs of INSIST_MS) {
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
   * Sends a batch. Providers refuse one that is too large for them with any status or error, or hang up. So the first
   * call that was refused is sent again alone. It fails if the node is down or refuses the call itself. If it is
   * answered, the batch was too large, and the next batches are smaller.
   *
   * @returns the results of the first calls: of one at least
   */
  private async askPart(send: Send, calls: readonly NodeCall[], signal: AbortSignal): Promise<unknown[]> {
    const askAlone = (at: number) => this.insist(send, calls[at] as NodeCall, signal);
    // Some nodes do not support batches, not even of one call.
    const results = calls.length === 1 ? [await askAlone(0)] : await this.askBatch(send, calls);
    if (results.length === calls.length) {
      if (calls.length >= this.batchSize.value) this.batchSize.noteAnswer();
      return results;
    }
    results.push(await askAlone(results.length));
    if (calls.length <= QUESTION_CALLS) {
      // The refusal may have passed. Only if each call is answered alone, and not both together, are batches refused.
      const again = await this.askBatch(send, calls);
      if (again.length === calls.length) return again;
      if (results.length < calls.length) results.push(await askAlone(results.length));
    }
    this.batchSize.noteRefusal(calls.length);
    return results;
  }

  /**
   * @returns the results of the calls before the first one that was refused, perhaps because there were too many: none
   *   if the whole batch was refused
   * @throws NodeFailure; NodeRefusal of a call that is refused for another reason
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
        // Too many calls: then the later ones are refused too.
        const isOne = answers.slice(at).some(({member}) => member === "result");
        if (error instanceof NodeRefusal && (isOne || error.isOfCall)) throw error;
        break;
      }
      results.push(one.result);
    }
    return results;
  }

  /**
   * The status says nothing if the body is an answer: a range of logs that is too long is refused with 400, 413, 500
   * and others.
   */
  private read({status, bytes, retryAfterMs}: HttpAnswer, id: number): Answer {
    try {
      return parseAnswer(bytes, id, true);
    } catch (error) {
      if (status === OK) throw error;
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

  private errorOf(error: ErrorAnswer, {method}: NodeCall, http: HttpAnswer): NodeFailure | NodeRefusal {
    return toNodeError(error, method, this.name, this.endpoint.redact, http);
  }
}

/** @returns undefined for a body that is no answer to the batch, such as one error for all of its calls */
function findBatchAnswer(bytes: Buffer, firstId: number, count: number): Answer[] | undefined {
  try {
    return parseBatchAnswer(bytes, firstId, count);
  } catch (error) {
    if (error instanceof NodeFailure) return undefined;
    throw error;
  }
}
