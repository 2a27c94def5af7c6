/** JSON-RPC at `/`: answers preflights, receives bodies, and counts the requests that are not answered yet. */
import type {Logger} from "pino";
import type {Limits} from "../limits.ts";
import type {HttpResponse} from "../listener/exchange.ts";
import type {Metrics} from "../observe/metrics.ts";
import type {OpenReply} from "../request/replySink.ts";
import {SharedBytes} from "../request/sharedBytes.ts";
import {collectBody} from "./body.ts";
import {Cors} from "./cors.ts";
import {refuseEncoding, refuseLarge, refuseRoom, refuseType, refuseUnready, refuseVerb} from "./refusals.ts";
import type {ReceivedRequest, Reply} from "./reply.ts";
import {acceptsBytes, isPlain} from "./representation.ts";
import type {RequestHead} from "./requestHead.ts";

export interface RpcOptions {
  readonly limits: Limits;
  readonly logsRequests: boolean;
  /** Origins whose web pages may send requests, as browsers send them, or ANY_ORIGIN. Default: none. */
  readonly cors?: readonly string[];
}

/** Answers a body. `body` is only read during the call. */
interface BodyAnswerer {
  answer(body: Buffer, reply: OpenReply, requestId: string): void;
}

export interface RpcParts {
  readonly rpc: BodyAnswerer;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Whether the store has no block. */
  readonly isEmpty: () => boolean;
}

export class RpcRoute {
  private readonly receiving: SharedBytes;
  private readonly cors: Cors | undefined;
  private readonly idPrefix = Date.now().toString(36);
  /** New requests are turned away. */
  isDraining = false;
  private requestCount = 0;
  /** Number of requests whose body has come and whose answer is not sent completely. */
  private openReplies = 0;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly options: RpcOptions,
    private readonly parts: RpcParts,
  ) {
    const {cors = [], limits} = options;
    this.receiving = new SharedBytes(limits);
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

  take(response: HttpResponse, head: RequestHead, reply: Reply, verb: string): void {
    if (this.cors !== undefined) reply.headers = this.cors.headersFor(head.origin);
    if (verb === "post") this.receive(response, head, reply);
    else if (verb === "options") this.answerPreflight(head, reply);
    else refuseVerb(reply, verb, "POST");
  }

  private answerPreflight({origin}: RequestHead, reply: Reply): void {
    const headers = this.cors?.preflightFor(origin);
    if (headers === undefined) refuseVerb(reply, "options", "POST");
    else reply.send("204 No Content", headers, "", false);
  }

  private receive(response: HttpResponse, head: RequestHead, reply: Reply): void {
    const limit = this.options.limits.bodyBytes;
    // Chunked bodies declare no length (the header is empty). They are counted as they come.
    const declared = Number(head.contentLength);
    const encoding = head.contentEncoding;
    if (this.isDraining) this.refuseStopping(reply);
    else if (this.parts.isEmpty()) refuseUnready(reply, "no block is held yet", false);
    else if (!isJson(head.contentType)) refuseType(reply);
    else if (!isPlain(encoding)) refuseEncoding(reply, encoding);
    else if (declared > limit) this.refuseLarge(reply, declared);
    else {
      reply.acceptsBytes = acceptsBytes(head.accept);
      reply.onAborted = collectBody(response, this.receiving, reply, this);
    }
  }

  /** Answers a request whose body has come. */
  takeBody(reply: Reply, body: Buffer): void {
    if (this.isDraining) {
      this.refuseStopping(reply);
      return;
    }
    const requestId = `${this.idPrefix}-${(this.requestCount++).toString(36)}`;
    reply.received = {owner: this, requestId, startedMs: performance.now(), bodyBytes: body.length};
    this.openReplies++;
    this.parts.rpc.answer(body, reply, requestId);
  }

  /** Notes that a request is over, whether its answer is complete or its client has gone. */
  settle({requestId, startedMs, bodyBytes}: ReceivedRequest, isAborted: boolean): void {
    const durationMs = performance.now() - startedMs;
    this.parts.metrics.observeRequest(durationMs, isAborted);
    if (this.options.logsRequests) {
      this.parts.log.info(
        {requestId, bodyBytes, isAborted, durationMs: Math.round(durationMs * 10) / 10},
        "request",
      );
    }
    if (--this.openReplies === 0) this.onIdle?.();
  }

  private refuseStopping(reply: Reply): void {
    refuseUnready(reply, "the service is stopping", true);
  }

  refuseLarge(reply: Reply, got: number): void {
    this.parts.metrics.refusedBodies.too_large++;
    refuseLarge(reply, this.options.limits.bodyBytes, got);
  }

  refuseRoom(reply: Reply, limit: number, got: number): void {
    this.parts.metrics.refusedBodies.no_room++;
    refuseRoom(reply, limit, got);
  }
}

/** Accepts `application/json` with any parameters. */
function isJson(contentType: string): boolean {
  const end = contentType.indexOf(";");
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase() === "application/json";
}
