/**
 * Forwards calls to another node, `--gateway URL`, and returns its answers under the callers' ids.
 *
 *   call --> {"jsonrpc":"2.0","id":<ours>,"method":<the caller's>,"params":<the caller's>} --> POST URL
 *   call <-- {"jsonrpc":"2.0","id":<theirs>,"result" or "error": <the upstream's value>} <--
 *
 * Anything but a JSON-RPC answer is the failure UPSTREAM_DOWN. Its detail goes to the caller. So it contains neither the
 * URL (paths and queries may hold keys) nor any text of the upstream.
 */
import type {Logger} from "pino";
import {Endpoint, type HttpAnswer} from "../../nodes/rpc/endpoint.ts";
import {NodeFailure} from "../../nodes/rpc/node.ts";
import {parseAnswer} from "../../nodes/rpc/response.ts";
import {encodeResponse, SEPARATOR} from "../../workers/messages/answers.ts";
import {MAX_ESTIMATE_TEXT_BYTES} from "../limits.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import {findInexact} from "../rpc/exactValues.ts";
import {RpcCode} from "../rpc/rpcError.ts";

const MAX_CONNECTIONS = 64;
/** For connecting, head and body together (docs/json-rpc.md). */
const TIMEOUT_MS = 10_000;
const OK = 200;

export class Gateway {
  /** Calls that the upstream has at the same time, each on a connection of its own. */
  readonly maxCalls = MAX_CONNECTIONS;
  private readonly endpoint: Endpoint;
  private readonly outages: OutageLog;
  private callCount = 0;

  /** @param url - http or https. Its user and password are sent as basic authorization */
  constructor(url: URL, log: Logger) {
    this.endpoint = new Endpoint(url, {
      timeoutMs: TIMEOUT_MS,
      maxAnswerBytes: MAX_ESTIMATE_TEXT_BYTES,
      connections: MAX_CONNECTIONS,
    });
    this.outages = new OutageLog(log);
  }

  /** Sends a call, perhaps twice, so it must change nothing. The texts are JSON. @returns one answer; never rejects */
  async forward(method: string, paramsText: string, idText: string): Promise<TaskAnswers> {
    const id = this.callCount++;
    try {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
      const {member, text: value, code} = this.readAnswer(await this.endpoint.post(body), id);
      this.outages.noteAnswer();
      const text = Buffer.from(encodeResponse(idText, member, value) + SEPARATOR);
      return {text, ends: Uint32Array.of(text.length), failures: [], codes: [code]};
    } catch (error) {
      // Anything else is our own mistake. Its message is for the log only.
      const reason = error instanceof NodeFailure ? error.message : "the request failed";
      this.outages.noteFailure(reason, error);
      const detail = `the gateway that answers ${method} for this node is down: ${reason}`;
      const failures = [{call: 0, failure: "UPSTREAM_DOWN", detail}] as const;
      return {text: new Uint8Array(0), ends: Uint32Array.of(0), failures, codes: []};
    }
  }

  /**
   * @throws NodeFailure unless it is a JSON-RPC answer to the request `id` whose values JSON.parse has not changed. The
   * caller may see the message, from which keys of the URL are removed
   */
  private readAnswer({status, bytes}: HttpAnswer, id: number): UpstreamAnswer {
    if (status !== OK) throw new NodeFailure(`it answered HTTP ${status}`);
    const answer = parseAnswer(bytes, id);
    const value = answer.member === "result" ? answer.result : answer.error;
    if (findInexact(value) !== undefined)
      throw new NodeFailure("its answer has a number that is no safe integer, or half of a character");
    if (answer.member === "result") return {member: "result", text: JSON.stringify(value), code: 0};
    const {redact} = this.endpoint;
    const text = JSON.stringify(value, (_, part) => (typeof part === "string" ? redact(part) : part));
    const {code} = answer.error;
    return {member: "error", text, code: KNOWN_CODES.has(code) ? code : RpcCode.EXECUTION_FAILED};
  }

  /** Ends every connection. Unfinished calls fail. */
  close(): Promise<void> {
    this.outages.end();
    return this.endpoint.close();
  }
}

/** At most one line in this time. An upstream that fails every second call would begin many outages. */
const WARN_EVERY_MS = 10_000;

/** Logs the upstream's outages: one line when an outage begins and one when it ends, not one per call. */
class OutageLog {
  private isWarned = false;
  private nextWarnMs = 0;
  private isEnded = false;

  constructor(private readonly log: Logger) {}

  noteAnswer(): void {
    if (!this.isWarned || this.isEnded) return;
    this.isWarned = false;
    this.log.info("the gateway answers again");
  }

  noteFailure(reason: string, error: unknown): void {
    if (this.isEnded) return;
    this.log.debug({err: error}, "the gateway did not answer a call");
    const nowMs = performance.now();
    if (this.isWarned || nowMs < this.nextWarnMs) return;
    this.isWarned = true;
    this.nextWarnMs = nowMs + WARN_EVERY_MS;
    this.log.warn({reason}, "the gateway does not answer: estimates get error -32002");
  }

  /** Stops logging, because later failures come from closing the connections. */
  end(): void {
    this.isEnded = true;
  }
}

interface UpstreamAnswer {
  readonly member: "result" | "error";
  /** JSON text of its value. */
  readonly text: string;
  /** The code that the answer is counted under: 0 or the error's code. As a metric's label, it is one of the known codes. */
  readonly code: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(RpcCode));
