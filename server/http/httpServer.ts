/**
 * The HTTP server on uWebSockets.js: opens the port, routes the paths and stops.
 *
 *   POST /          JSON-RPC          GET /healthz   the process runs
 *   GET  /metrics   Prometheus        GET /readyz    it should get requests (readiness.ts), and is not stopping
 *
 * uWebSockets.js cannot keep a request of a connection waiting. A client that sends a second one before the first is answered
 * (pipelining) loses that connection, and nothing else (turns.ts). (Pausing the socket would help only if the requests come in
 * separate TCP segments, and would hide that a client has gone.)
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
import {AllowedHosts} from "./allowedHosts.ts";
import type {Connections} from "./connections.ts";
import {explainListenFailure} from "./listenFailure.ts";
import {PROBES, type ProbeParts} from "./probes.ts";
import {refuseHost, refusePath, refuseVerb} from "./refusals.ts";
import {Reply} from "./reply.ts";
import {type RpcOptions, type RpcParts, RpcRoute} from "./rpcRoute.ts";
import {Turns} from "./turns.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

/** LIBUS_LISTEN_EXCLUSIVE_PORT. The module exports it, but its types lack it. */
const LISTEN_EXCLUSIVELY = 1;

export interface HttpOptions extends RpcOptions {
  readonly host: string;
  readonly port: number;
  /** Names by which requests may call the server, besides localhost (allowedHosts.ts). Default: none. */
  readonly allowedHosts?: readonly string[];
}

interface HttpParts extends RpcParts, ProbeParts {
  readonly unsent: UnsentBytes;
  readonly connections: Connections;
}

export class HttpServer {
  private readonly rpc: RpcRoute;
  private readonly hosts: AllowedHosts;
  private readonly turns = new Turns();
  private readonly app: TemplatedApp;
  private listenSocket: us_listen_socket | undefined;

  constructor(
    private readonly options: HttpOptions,
    private readonly parts: HttpParts,
  ) {
    this.rpc = new RpcRoute(options, parts);
    this.hosts = new AllowedHosts(options.host, options.allowedHosts ?? []);
    this.app = App();
    // Called when a connection opens (1) and when it closes (-1).
    this.app.filter((response, change) => parts.connections.count(Number(change), () => response.close()));
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

  close(): void {
    this.app.close();
  }

  private route(response: HttpResponse, request: HttpRequest): void {
    const reply = new Reply(response, this.parts.unsent, this.turns);
    const verb = request.getMethod();
    const path = request.getUrl();
    const host = request.getHeader("host");
    if (!this.hosts.allows(host)) {
      refuseHost(reply, verb, host);
      return;
    }
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
