/**
 * Forwards calls to another node, `--gateway URL`, and returns its answers under the callers' ids.
 *
 *   call --> {"jsonrpc":"2.0","id":<ours>,"method":<the caller's>,"params":<the caller's>} --> POST URL
 *   call <-- {"jsonrpc":"2.0","id":<theirs>,"result" or "error": <the upstream's value>} <--
 *
 * A result is passed on byte by byte. Anything but a JSON-RPC answer is the failure UPSTREAM_DOWN. Its detail goes to the
 * caller. So it contains neither the URL (paths and queries may hold keys) nor any text of the upstream.
 */
import {setImmediate as nextTurn} from "node:timers/promises";
import type {Logger} from "pino";
import {AnswerTooLong, Endpoint, type HttpAnswer} from "../../nodes/rpc/endpoint.ts";
import {NodeFailure} from "../../nodes/rpc/node.ts";
import {readError} from "../../nodes/rpc/response.ts";
import {SEPARATOR} from "../../workers/messages/answers.ts";
import type {Failure} from "../../workers/messages/failure.ts";
import type {Work} from "../fairness/work.ts";
import {scanMembers} from "../json/memberScan.ts";
import {FORWARDED_BYTES_PER_COST, LONG_FORWARD_COST, MAX_CALL_TEXT_BYTES} from "../limits.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import {findInexact} from "../rpc/exactValues.ts";
import {RpcCode} from "../rpc/rpcError.ts";

/** Each may have an answer in memory, 640 MB together. One client has at most a quarter (dispatch/lane.ts). */
const MAX_CONNECTIONS = 64;
/** For connecting, head and body together (docs/json-rpc.md). */
const TIMEOUT_MS = 10_000;
const OK = 200;
/** The members of an answer that are read. */
const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "result", "error"]);

interface ForwardedCall {
  readonly method: string;
  /** JSON. */
  readonly paramsText: string;
  readonly maxAnswerBytes: number;
  /** It changes nothing, so it may be sent twice. */
  readonly isRead: boolean;
}

export class Gateway {
  /** Calls that the upstream has at the same time, each on a connection of its own. */
  readonly maxCalls = MAX_CONNECTIONS;
  private readonly endpoint: Endpoint;
  private readonly outages: OutageLog;
  private callCount = 0;
  private isClosed = false;

  /** @param url - http or https. Its user and password are sent as basic authorization */
  constructor(url: URL, log: Logger) {
    this.endpoint = new Endpoint(url, {
      timeoutMs: TIMEOUT_MS,
      maxAnswerBytes: LONG_FORWARD_COST * FORWARDED_BYTES_PER_COST,
      connections: MAX_CONNECTIONS,
    });
    this.outages = new OutageLog(log);
  }

  /** @param idText - JSON of the caller's id. @returns one answer; never rejects */
  async forward(call: ForwardedCall, idText: string): Promise<TaskAnswers> {
    try {
      const {member, text: value, code} = await this.send(call);
      this.outages.noteAnswer();
      const text = Buffer.concat([
        Buffer.from(`{"jsonrpc":"2.0","id":${idText},"${member}":`),
        value,
        Buffer.from(`}${SEPARATOR}`),
      ]);
      return {text, ends: Uint32Array.of(text.length), failures: [], codes: [code]};
    } catch (error) {
      const failures = [{call: 0, ...this.noteFailure(call, error)}];
      return {text: new Uint8Array(0), ends: Uint32Array.of(0), failures, codes: []};
    }
  }

  private async send({method, paramsText, maxAnswerBytes, isRead}: ForwardedCall): Promise<UpstreamAnswer> {
    const id = this.callCount++;
    const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
    let got = 0;
    const onBytes = (bytes: number): void => {
      got += bytes;
      if (got > maxAnswerBytes) throw new AnswerTooLong("its answer is too long");
    };
    return this.readAnswer(await this.endpoint.post(body, undefined, onBytes, isRead ? 2 : 1), id);
  }

  private noteFailure({method, maxAnswerBytes, isRead}: ForwardedCall, error: unknown): Failure {
    if (error instanceof AnswerTooLong) {
      this.outages.noteAnswer();
      const detail = `the answer to ${method}: expected at most ${maxAnswerBytes} bytes, got more`;
      return {failure: "LIMIT_EXCEEDED", detail, limit: maxAnswerBytes, got: maxAnswerBytes + 1};
    }
    // Anything else is our own mistake. Its message is for the log only.
    const reason = error instanceof NodeFailure ? error.message : "the request failed";
    this.outages.noteFailure(reason, error);
    const outage = this.isClosed
      ? `the gateway did not answer ${method} before this node shut down`
      : `the gateway that answers ${method} for this node is down: ${reason}`;
    const advice = isRead ? "" : ". It may have received the call";
    return {failure: "UPSTREAM_DOWN", detail: outage + advice};
  }

  /**
   * @throws NodeFailure unless it is a JSON-RPC answer to the request `id`. The caller may see the message, from which
   * keys of the URL are removed
   */
  private async readAnswer({status, bytes}: HttpAnswer, id: number): Promise<UpstreamAnswer> {
    if (status !== OK) throw new NodeFailure(`it answered HTTP ${status}`);
    const members = await runInSteps(scanMembers(bytes, MEMBERS)).catch((error: unknown) => {
      throw new NodeFailure("its answer is not JSON-RPC 2.0", {cause: error});
    });
    const read = (name: string): unknown => {
      const text = members.get(name);
      // It is parsed at once, so a long one would hold up the main thread.
      if (text !== undefined && text.length > MAX_CALL_TEXT_BYTES)
        throw new NodeFailure(`the ${name} in its answer has more than ${MAX_CALL_TEXT_BYTES} bytes`);
      return JSON.parse(text?.toString() ?? "null");
    };
    if (read("jsonrpc") !== "2.0") throw new NodeFailure("its answer is not JSON-RPC 2.0");
    if (read("id") !== id) throw new NodeFailure("its answer has another request's id");
    const result = members.get("result");
    const error = read("error");
    if (error === null) {
      if (result === undefined) throw new NodeFailure("its answer has neither result nor error");
      return {member: "result", text: result, code: 0};
    }
    const {code} = readError(error);
    if (findInexact(error) !== undefined)
      throw new NodeFailure("its error has a number that is no safe integer, or half of a character");
    const text = JSON.stringify(error, (_, part) => redactPart(part, this.endpoint.redact));
    return {
      member: "error",
      text: Buffer.from(text),
      code: KNOWN_CODES.has(code) ? code : RpcCode.EXECUTION_FAILED,
    };
  }

  /** Ends every connection. Unfinished calls fail. */
  close(): Promise<void> {
    this.isClosed = true;
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
    this.log.warn({reason}, "the gateway does not answer: calls for it get error -32002");
  }

  /** Stops logging, because later failures come from closing the connections. */
  end(): void {
    this.isEnded = true;
  }
}

interface UpstreamAnswer {
  readonly member: "result" | "error";
  /** JSON text of its value. */
  readonly text: Buffer;
  /** The code that the answer is counted under: 0 or the error's code. As a metric's label, it is one of the known codes. */
  readonly code: number;
}

/** A user may have such a name. */
const ERROR_MEMBERS: ReadonlySet<string> = new Set(["code", "message", "data"]);
const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(RpcCode));

/** Redacts a string, or the names of an object's members: JSON.stringify passes on their values one by one. */
function redactPart(part: unknown, redact: (text: string) => string): unknown {
  if (typeof part === "string") return redact(part);
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  const redactName = (name: string): string => (ERROR_MEMBERS.has(name) ? name : redact(name));
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [redactName(name), value]));
}

/** Lets the main thread do other work between the steps. */
async function runInSteps<T>(work: Work<T>): Promise<T> {
  for (;;) {
    const {done, value} = work.next();
    if (done === true) return value;
    await nextTurn();
  }
}
