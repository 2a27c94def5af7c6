/**
 * The HTTP front on uWebSockets.js: routes, verbs and types, bodies, health, and the end of it all.
 *
 *   POST /          JSON-RPC          GET /healthz   the process lives
 *   GET  /metrics   Prometheus        GET /readyz    it should get requests (readiness.ts), and is not stopping
 *
 * uWebSockets.js reads the next request of a connection only after the answer to the one before; a client that sends a
 * second one (pipelining) while a call is with the workers loses that connection, and nothing else. Calls that are
 * answered at once may be pipelined. (Pausing the socket would help only where the requests come in separate segments,
 * and would hide that a client has gone.)
 */
import {
  App,
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  type us_socket,
  us_socket_local_port,
} from "uWebSockets.js";
import type {Logger} from "pino";
import type {OpenReply} from "../answer/replySink.ts";
import type {Limits} from "../limits.ts";
import type {Metrics} from "../observe/metrics.ts";
import type {Readiness} from "../observe/readiness.ts";
import {encodeError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import {collectBody, ReceivingBytes} from "./body.ts";
import {Cors, type Header} from "./cors.ts";
import type {HeldBytes} from "./heldBytes.ts";
import {explainListenFailure} from "./listenFailure.ts";
import {JSON_TYPE, Reply} from "./reply.ts";

const TEXT_TYPE: Header = ["Content-Type", "text/plain; charset=utf-8"];
const RETRY_SECONDS = 1;
const RETRY_AFTER: Header = ["Retry-After", String(RETRY_SECONDS)];

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the module exports and its types do not. */
const LISTEN_EXCLUSIVELY = 1;

/** Data of the error while no request is taken at all. */
const NONE_TAKEN = {limit: 0, got: 1};

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: Limits;
  readonly logsRequests: boolean;
  /** Origins of web pages that may ask, as browsers send them, or ANY_ORIGIN. Left out: none. */
  readonly cors?: readonly string[];
}

/** Answers a body; `body` is only read during the call. */
export interface BodyService {
  answer(body: Buffer, reply: OpenReply, requestId: string): void;
}

export interface HttpParts {
  readonly service: BodyService;
  readonly held: HeldBytes;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly readiness: Readiness;
  /** Is no block held? */
  readonly isEmpty: () => boolean;
}

export class HttpServer {
  readonly #options: HttpOptions;
  readonly #parts: HttpParts;
  readonly #app: TemplatedApp;
  readonly #receiving: ReceivingBytes;
  readonly #cors: Cors | null;
  readonly #idPrefix = Date.now().toString(36);
  #listenSocket: us_listen_socket | null = null;
  #isDraining = false;
  #requestCount = 0;
  /** Replies to JSON-RPC requests whose body has come and that are not sent to the last byte. */
  #openReplies = 0;
  #onIdle: (() => void) | null = null;

  constructor(options: HttpOptions, parts: HttpParts) {
    this.#options = options;
    this.#parts = parts;
    this.#receiving = new ReceivingBytes(options.limits.bodyBytesTotal);
    const {cors = []} = options;
    this.#cors = cors.length === 0 ? null : new Cors(cors);
    this.#app = App();
    this.#app.any("/*", (response, request) => this.#route(response, request));
  }

  /** @returns the port. @throws Error if it cannot be had */
  listen(): Promise<number> {
    const {host, port} = this.#options;
    return new Promise(resolve => {
      // Without it the kernel would let two processes share a port, and spread the requests over both. The binding
      // takes it with a host too, which its types do not know.
      const listen = this.#app.listen.bind(this.#app) as unknown as (
        host: string,
        port: number,
        options: number,
        onListen: (socket: us_listen_socket | false) => void,
      ) => void;
      listen(host, port, LISTEN_EXCLUSIVELY, socket => {
        if (socket === false) {
          resolve(explainListenFailure(host, port));
          return;
        }
        this.#listenSocket = socket;
        resolve(us_socket_local_port(socket as us_socket));
      });
    });
  }

  /** Takes no new connections and turns new requests away. @returns when every request under way is answered */
  drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#listenSocket !== null) us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
    if (this.#openReplies === 0) return Promise.resolve();
    return new Promise(resolve => {
      this.#onIdle = resolve;
    });
  }

  /** Cuts every connection. */
  close(): void {
    this.#app.close();
  }

  #route(response: HttpResponse, request: HttpRequest): void {
    const reply = new Reply(response, this.#parts.held);
    const verb = request.getMethod();
    const path = request.getUrl();
    switch (path) {
      case "/":
        if (this.#cors !== null) reply.headers = this.#cors.headersFor(request.getHeader("origin"));
        if (verb === "post") this.#receive(response, request, reply);
        else if (verb === "options") this.#answerPreflight(request, reply);
        else this.#refuseVerb(reply, verb, "POST");
        return;
      case "/healthz":
      case "/readyz":
      case "/metrics":
        if (verb === "get" || verb === "head") this.#observe(reply, verb, path);
        else this.#refuseVerb(reply, verb, "GET, HEAD");
        return;
      default: {
        const error = new RpcError(
          RpcCode.INVALID_REQUEST,
          "there is nothing at this path: JSON-RPC is POST /",
        );
        this.#refuse(reply, verb, "404 Not Found", [], error);
      }
    }
  }

  #receive(response: HttpResponse, request: HttpRequest, reply: Reply): void {
    const limit = this.#options.limits.bodyBytes;
    // Chunked bodies declare nothing (the header is empty) and are counted as they come.
    const declared = Number(request.getHeader("content-length"));
    if (this.#isDraining) this.#refuseUnready(reply, "the service is stopping");
    else if (this.#parts.isEmpty()) this.#refuseUnready(reply, "no block is held yet");
    else if (!isJson(request.getHeader("content-type"))) {
      const error = new RpcError(RpcCode.INVALID_REQUEST, "expected Content-Type: application/json");
      this.#refuse(reply, "post", "415 Unsupported Media Type", [], error);
    } else if (declared > limit) this.#refuseLarge(reply, declared);
    else {
      reply.onAborted = collectBody(response, limit, this.#receiving, {
        onBody: body => this.#answer(body, reply),
        onTooLarge: got => this.#refuseLarge(reply, got),
        onNoRoom: () => this.#refuseRoom(reply),
      });
    }
  }

  /** A browser asks what a page of another origin may send. */
  #answerPreflight(request: HttpRequest, reply: Reply): void {
    const headers = this.#cors?.preflightFor(request.getHeader("origin")) ?? null;
    if (headers === null) this.#refuseVerb(reply, "options", "POST");
    else reply.send("204 No Content", headers, "", false);
  }

  #answer(body: Buffer, reply: Reply): void {
    if (this.#isDraining) {
      this.#refuseUnready(reply, "the service is stopping");
      return;
    }
    const requestId = `${this.#idPrefix}-${(this.#requestCount++).toString(36)}`;
    const startedMs = performance.now();
    const bodyBytes = body.length;
    this.#openReplies++;
    reply.onOver = isAborted => this.#settle(requestId, startedMs, bodyBytes, isAborted);
    this.#parts.service.answer(body, reply, requestId);
  }

  #settle(requestId: string, startedMs: number, bodyBytes: number, isAborted: boolean): void {
    const durationMs = performance.now() - startedMs;
    this.#parts.metrics.observeRequest(durationMs, isAborted);
    if (this.#options.logsRequests) {
      this.#parts.log.info(
        {requestId, bodyBytes, isAborted, durationMs: Math.round(durationMs * 10) / 10},
        "request",
      );
    }
    if (--this.#openReplies === 0) this.#onIdle?.();
  }

  #observe(reply: Reply, verb: string, path: string): void {
    if (path === "/metrics") {
      this.#parts.metrics.read().then(
        ({type, text}) => this.#send(reply, verb, "200 OK", [["Content-Type", type]], text),
        (error: unknown) => {
          this.#parts.log.error({err: error}, "metrics could not be read");
          this.#send(reply, verb, "500 Internal Server Error", [TEXT_TYPE], "metrics could not be read\n");
        },
      );
      return;
    }
    if (path === "/healthz") {
      this.#send(reply, verb, "200 OK", [TEXT_TYPE], "ok\n");
      return;
    }
    const obstacle = this.#isDraining ? "stopping" : this.#parts.readiness.readObstacle();
    if (obstacle === null) this.#send(reply, verb, "200 OK", [TEXT_TYPE], "ready\n");
    else this.#sendUnready(reply, verb, `${obstacle}\n`);
  }

  #sendUnready(reply: Reply, verb: string, text: string): void {
    this.#send(reply, verb, "503 Service Unavailable", [TEXT_TYPE, RETRY_AFTER], text);
  }

  #refuseVerb(reply: Reply, verb: string, allowed: string): void {
    const error = new RpcError(RpcCode.INVALID_REQUEST, `expected ${allowed}`);
    this.#refuse(reply, verb, "405 Method Not Allowed", [["Allow", allowed]], error);
  }

  /** The rest of the body is read and dropped: cutting the connection now could take the answer with it. */
  #refuseLarge(reply: Reply, got: number): void {
    const limit = this.#options.limits.bodyBytes;
    const message = `the body may have at most ${limit} bytes`;
    this.#parts.metrics.countRefusedBody("too_large");
    this.#refuse(
      reply,
      "post",
      "413 Payload Too Large",
      [],
      new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got}),
    );
  }

  #refuseRoom(reply: Reply): void {
    const {total: got, limit} = this.#receiving;
    this.#parts.metrics.countRefusedBody("no_room");
    const error = new RpcError(RpcCode.LIMIT_EXCEEDED, "too many bodies are being received", {limit, got});
    reply.sendBusy(encodeError("null", error), RETRY_SECONDS);
  }

  #refuseUnready(reply: Reply, reason: string): void {
    const text = encodeError(
      "null",
      new RpcError(RpcCode.LIMIT_EXCEEDED, `${reason}: try again later`, NONE_TAKEN),
    );
    reply.send("503 Service Unavailable", [JSON_TYPE, RETRY_AFTER], text, this.#isDraining);
  }

  #refuse(reply: Reply, verb: string, status: string, headers: readonly Header[], error: RpcError): void {
    this.#send(reply, verb, status, [JSON_TYPE, ...headers], encodeError("null", error));
  }

  #send(reply: Reply, verb: string, status: string, headers: readonly Header[], text: string): void {
    if (verb === "head") reply.sendHead(status, headers, Buffer.byteLength(text));
    else reply.send(status, headers, text, false);
  }
}

/** `application/json`, whatever its parameters. */
function isJson(contentType: string): boolean {
  const end = contentType.indexOf(";");
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase() === "application/json";
}
