/**
 * The HTTP server on uWebSockets.js: opens the port, routes the paths and stops.
 *
 *   POST /          JSON-RPC          GET /healthz   the process runs
 *   GET  /metrics   Prometheus        GET /readyz    it should get requests (readiness.ts), and is not stopping
 *
 * uWebSockets.js reads the next request of a connection only after it has answered the one before. A client that sends a
 * second request (pipelining) while workers answer the first loses that connection, and nothing else. Calls that are
 * answered at once may be pipelined. (Pausing the socket would help only if the requests come in separate TCP segments, and
 * would hide that a client has gone.)
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
import {explainListenFailure} from "./listenFailure.ts";
import {PROBES, type ProbeParts} from "./probes.ts";
import {refusePath, refuseVerb} from "./refusals.ts";
import {Reply} from "./reply.ts";
import {type RpcOptions, type RpcParts, RpcRoute} from "./rpcRoute.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

/** LIBUS_LISTEN_EXCLUSIVE_PORT. The module exports it, but its types lack it. */
const LISTEN_EXCLUSIVELY = 1;

export interface HttpOptions extends RpcOptions {
  readonly host: string;
  readonly port: number;
}

export interface HttpParts extends RpcParts, ProbeParts {
  readonly unsent: UnsentBytes;
}

export class HttpServer {
  private readonly options: HttpOptions;
  private readonly parts: HttpParts;
  private readonly rpc: RpcRoute;
  private readonly app: TemplatedApp;
  private listenSocket: us_listen_socket | undefined;

  constructor(options: HttpOptions, parts: HttpParts) {
    this.options = options;
    this.parts = parts;
    this.rpc = new RpcRoute(options, parts);
    this.app = App();
    this.app.any("/*", (response, request) => this.route(response, request));
  }

  /** @returns the port. @throws Error if the server cannot listen on it */
  listen(): Promise<number> {
    const {host, port} = this.options;
    return new Promise(resolve => {
      // LISTEN_EXCLUSIVELY is needed, because the kernel would let two processes share a port and spread the requests over
      // both. The module accepts it together with a host, but its types do not.
      const listen = this.app.listen.bind(this.app) as unknown as (
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
        this.listenSocket = socket;
        resolve(us_socket_local_port(socket as us_socket));
      });
    });
  }

  /** Takes no new connections and turns new requests away. @returns when all open requests are answered */
  drain(): Promise<void> {
    if (this.listenSocket !== undefined) us_listen_socket_close(this.listenSocket);
    this.listenSocket = undefined;
    return this.rpc.drain();
  }

  /** Closes every connection at once. */
  close(): void {
    this.app.close();
  }

  private route(response: HttpResponse, request: HttpRequest): void {
    const reply = new Reply(response, this.parts.unsent);
    const verb = request.getMethod();
    const path = request.getUrl();
    if (path === "/") {
      this.rpc.take(response, request, reply, verb);
      return;
    }
    const probe = PROBES.get(path);
    if (probe === undefined) refusePath(reply, verb);
    else if (verb === "get" || verb === "head") probe(this.parts, reply, verb, this.rpc.isDraining);
    else refuseVerb(reply, verb, "GET, HEAD");
  }
}
