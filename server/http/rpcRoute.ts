/** JSON-RPC at `/`, proofs for caches and CCIP-read: answers preflights, receives bodies, and counts the requests that are not answered yet. */
import type {Logger} from "pino";
import {type Excess, SharedBytes} from "../fairness/sharedBytes.ts";
import type {Work} from "../fairness/work.ts";
import type {Limits} from "../limits.ts";
import type {HttpResponse} from "../listener/exchange.ts";
import type {Metrics} from "../observe/metrics.ts";
import {RequestRecord} from "../request/requestRecord.ts";
import {type Call, WHOLE_BYTES} from "../rpc/envelope.ts";
import {shorten} from "../rpc/rpcError.ts";
import {afterReading, collectBody, dropBody} from "./body.ts";
import {CCIP_PATH, describeCcip, readCcipPath} from "./ccipRoute.ts";
import {addressText} from "./clientAddress.ts";
import {Cors} from "./cors.ts";
import type {TrustedProxies} from "./forwardedFor.ts";
import type {Intake, Job} from "./intake.ts";
import {answerProof, type ProofParts, type ProofRequest} from "./proofRoute.ts";
import {encodeLimit, refuse, refuseUnready, refuseVerb} from "./refusals.ts";
import {JSON_TYPE, type Reply} from "./reply.ts";
import type {RequestHead} from "./requestHead.ts";

/** At `/`. GET and HEAD are for the page. */
const VERBS = "GET, HEAD, POST";
const UNSUPPORTED = "415 Unsupported Media Type";

export interface RpcOptions {
  readonly limits: Limits;
  /** Proxies whose X-Forwarded-For is believed: addresses and networks. Default: none. */
  readonly trustForwarded?: readonly string[] | undefined;
  /** Origins whose web pages may send requests, as browsers send them, or ANY_ORIGIN. Default: none. */
  readonly cors?: readonly string[];
}

export interface RpcParts extends ProofParts {
  /** For CCIP-read. */
  readonly ccip: ProofParts["rpc"];
  readonly metrics: Metrics;
  /** undefined: no X-Forwarded-For is believed. */
  readonly proxies: TrustedProxies | undefined;
  readonly log: Logger;
}

export class RpcRoute {
  private readonly bodies: SharedBytes;
  private readonly cors: Cors | undefined;
  private readonly idPrefix = Date.now().toString(36);
  isDraining = false;
  private readonly logsRequests: boolean;
  private requestCount = 0;
  /** Number of requests whose body has come and whose answer is not sent completely. */
  private openReplies = 0;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly options: RpcOptions,
    private readonly parts: RpcParts,
    private readonly intake: Intake,
  ) {
    const {cors = [], limits} = options;
    this.logsRequests = parts.log.isLevelEnabled("debug");
    this.bodies = new SharedBytes(limits);
    this.cors = cors.length === 0 ? undefined : new Cors(cors);
  }

  /** Turns new requests away. @returns when all open requests are answered */
  drain(): Promise<void> {
    this.isDraining = true;
    if (this.openReplies === 0) return Promise.resolve();
    return new Promise(resolve => {
      this.onIdle = resolve;
    });
  }

  answer(head: RequestHead, reply: Reply): void {
    this.prepare(head, reply);
    if (head.verb === "options") this.answerPreflight(head, reply, VERBS);
    else refuseVerb(reply, head.verb, VERBS);
  }

  answerProof(target: Omit<ProofRequest, "ifNoneMatch">, head: RequestHead, reply: Reply): void {
    this.prepare(head, reply);
    const request = {...target, ifNoneMatch: head.ifNoneMatch};
    if (head.verb !== "get") refuseVerb(reply, head.verb, "GET");
    else if (this.isReady(reply))
      answerProof(this.parts, reply, request, call => this.answerCall(this.parts.rpc, call, reply));
  }

  /** CCIP-read, but for the POST, which `receive` takes. */
  answerCcip(path: string, head: RequestHead, reply: Reply): void {
    this.prepare(head, reply);
    this.beginCcip(reply);
    const verbs = path === CCIP_PATH ? "GET, POST" : "GET";
    if (head.verb === "options") this.answerPreflight(head, reply, verbs);
    else if (head.verb !== "get") refuseVerb(reply, head.verb, verbs);
    else if (this.isReady(reply)) this.answerCall(this.parts.ccip, readCcipPath(path), reply);
  }

  /** Answers if no request is taken now. */
  private isReady(reply: Reply): boolean {
    if (this.isDraining) this.refuseStopping(reply);
    else if (this.parts.blocks.latest !== undefined) return true;
    else refuseUnready(reply, "the store is empty", false);
    return false;
  }

  private answerCall(service: ProofParts["rpc"], call: Call, reply: Reply): void {
    this.work(reply, service.answerCall(call, reply, this.begin(reply, 0)), 0, undefined);
  }

  private beginCcip(reply: Reply): void {
    reply.isCcip = true;
    reply.describe = describeCcip;
  }

  private prepare({origin, requestId: given}: RequestHead, reply: Reply): void {
    if (this.cors !== undefined) reply.headers = this.cors.headersFor(origin);
    if (given === "") return;
    reply.requestId = VALID_ID.test(given) ? given : this.createId();
    reply.headers = [...reply.headers, [REQUEST_ID, reply.requestId]];
  }

  private createId(): string {
    return `${this.idPrefix}-${(this.requestCount++).toString(36)}`;
  }

  private answerPreflight({origin}: RequestHead, reply: Reply, verbs: string): void {
    const headers = this.cors?.preflightFor(origin);
    if (headers === undefined) refuseVerb(reply, "options", verbs);
    else reply.send("204 No Content", headers, "", false);
  }

  /** Takes the body of a POST. @param isCcip - it is one of CCIP-read, not of JSON-RPC */
  receive(response: HttpResponse, head: RequestHead, reply: Reply, isCcip: boolean): void {
    this.prepare(head, reply);
    if (isCcip) this.beginCcip(reply);
    const refuse = this.findRefusal(head, reply);
    if (this.isDraining) this.refuseStopping(reply);
    else if (refuse !== undefined) dropBody(response, reply, this.intake, refuse);
    else {
      reply.acceptsBytes = acceptsBytes(head.accept);
      reply.onAborted = collectBody(response, this.bodies, reply, this.intake, this);
    }
  }

  private findRefusal({contentType, contentEncoding, contentLength}: RequestHead, reply: Reply) {
    // Chunked bodies declare no length (the header is empty). They are counted as they come.
    const declared = Number(contentLength);
    if (this.parts.blocks.latest === undefined)
      return () => refuseUnready(reply, "the store is empty", false);
    if (!isJson(contentType))
      return () => refuse(reply, "post", UNSUPPORTED, "expected Content-Type: application/json");
    if (!isPlain(contentEncoding)) {
      const message = `expected a body without Content-Encoding, got ${shorten(contentEncoding)}`;
      return () => refuse(reply, "post", UNSUPPORTED, message, [["Accept-Encoding", "identity"]]);
    }
    if (declared > this.options.limits.bodyBytes) return () => this.refuseTooLarge(reply, declared);
    return undefined;
  }

  takeBody(reply: Reply, body: Buffer, free: (() => void) | undefined): void {
    if (this.isDraining) {
      free?.();
      this.refuseStopping(reply);
      return;
    }
    const service = reply.isCcip ? this.parts.ccip : this.parts.rpc;
    this.work(reply, service.answer(body, reply, this.begin(reply, body.length)), body.length, free);
  }

  /** Works on the answer when the client has its turn. @param free - called when that is over */
  private work(reply: Reply, work: Work, bodyBytes: number, free: (() => void) | undefined): void {
    let job: Job | undefined;
    reply.onAborted = () => {
      if (job !== undefined) job.work = undefined;
      free?.();
    };
    const whole = free === undefined ? work : afterReading(bodyBytes, work, free);
    job = this.intake.start(whole, () => reply.readClient(), bodyBytes > WHOLE_BYTES ? "body" : "short");
  }

  /** From now on the request counts, until its reply is over. */
  private begin(reply: Reply, bodyBytes: number): RequestRecord {
    const peer = this.logsRequests ? addressText(reply.readAddress()) : undefined;
    const id = reply.requestId ?? this.createId();
    const record = new RequestRecord(id, performance.now(), bodyBytes, peer);
    reply.record = record;
    reply.owner = this;
    this.openReplies++;
    return record;
  }

  settle(record: RequestRecord, isAborted: boolean): void {
    const durationMs = performance.now() - record.startedMs;
    this.parts.metrics.observeRequest(record, durationMs, isAborted);
    if (this.logsRequests) {
      const {id: requestId, startedMs: _, ...told} = record;
      this.parts.log.debug(
        {requestId, ...told, durationMs: Math.round(durationMs * 10) / 10, isAborted},
        "request",
      );
    }
    if (--this.openReplies === 0) this.onIdle?.();
  }

  private refuseStopping(reply: Reply): void {
    refuseUnready(reply, "the service is stopping", true);
  }

  refuseTooLarge(reply: Reply, got: number): void {
    this.parts.metrics.refusedBodies.too_large++;
    const {bodyBytes} = this.options.limits;
    const text = encodeLimit(`the body may have at most ${bodyBytes} bytes`, bodyBytes, got);
    reply.send("413 Payload Too Large", [JSON_TYPE], text, false);
  }

  refuseNoRoom(reply: Reply, {limit, got}: Excess): () => void {
    this.parts.metrics.refusedBodies.no_room++;
    const message = "too many bytes of bodies are being received: try again later";
    return () => reply.sendBusy(encodeLimit(message, limit, got), 1);
  }
}

/** The last two are of an older custom, JSON-RPC over HTTP, and geth takes them too. */
const JSON_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/json-rpc",
  "application/jsonrequest",
]);

/** Accepts any parameters. */
function isJson(contentType: string): boolean {
  const end = contentType.indexOf(";");
  return JSON_TYPES.has((end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase());
}

const BYTES = "application/octet-stream";
/** A weight of zero: the client does not take the type (RFC 9110, section 12.4.2). */
const ZERO_WEIGHT = /^q=0(\.0{0,3})?$/i;

/**
 * Whether the Accept header names application/octet-stream with a weight above 0. Wildcards do not count: clients send
 * them without knowing of bytes.
 */
function acceptsBytes(accept: string): boolean {
  if (accept.length < BYTES.length) return false;
  return accept.split(",").some(range => {
    const [type, ...parameters] = range.split(";").map(part => part.trim());
    return type?.toLowerCase() === BYTES && !parameters.some(parameter => ZERO_WEIGHT.test(parameter));
  });
}

/** Whether the Content-Encoding header names only `identity`. @param encoding - "" without the header */
function isPlain(encoding: string): boolean {
  return encoding === "" || encoding.split(",").every(name => name.trim().toLowerCase() === "identity");
}

/** The X-Request-Id header: a caller's name for a request, in the log, in internal errors and in the answer. */
const REQUEST_ID = "X-Request-Id";

/** What a log line, a header and a shell take without quoting. Another one is replaced by an id of proofd's own. */
const VALID_ID = /^[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}$/;
