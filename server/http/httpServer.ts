/**
 * The HTTP server: opens the port with what ../listener chooses, routes the paths and stops.
 *
 *   POST /          JSON-RPC          GET /healthz   the process runs
 *   GET  /          a page (page.ts)  GET /readyz    it should get requests (readiness.ts), and is not stopping
 *   GET  /metrics   Prometheus        GET /v1/..     a proof that caches may keep (proofRoute.ts)
 *
 * uWebSockets.js cannot keep a request of a connection waiting. A client that sends a second one before the first is answered
 * (pipelining) loses that connection, and nothing else (turns.ts). (Pausing the socket would help only if the requests come in
 * separate TCP segments, and would hide that a client has gone.)
 */
import type {Logger} from "pino";
import {createListener, type ListenerOptions} from "../listener/createListener.ts";
import type {HttpRequest, HttpResponse, Listener} from "../listener/exchange.ts";
import {isProofPath} from "../methods/proof/proofTarget.ts";
import {AllowedHosts} from "./allowedHosts.ts";
import type {Clients} from "./clientAddress.ts";
import type {Connections} from "./connections.ts";
import {Page} from "./page.ts";
import {PROBES, type ProbeParts} from "./probes.ts";
import {refuseFraming, refuseHost, refusePath, refuseVerb} from "./refusals.ts";
import {Reply} from "./reply.ts";
import {RequestHead} from "./requestHead.ts";
import {type RpcOptions, type RpcParts, RpcRoute} from "./rpcRoute.ts";
import {Turns} from "./turns.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

export interface HttpOptions extends RpcOptions, ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Names by which requests may call the server, besides localhost (allowedHosts.ts). Default: none. */
  readonly allowedHosts?: readonly string[];
}

interface HttpParts extends RpcParts, ProbeParts {
  readonly unsent: UnsentBytes;
  readonly clients: Clients;
  readonly connections: Connections;
  readonly log: Logger;
}

export class HttpServer {
  private readonly rpc: RpcRoute;
  private readonly hosts: AllowedHosts;
  private readonly page = new Page();
  private readonly turns = new Turns();
  private listener: Listener | undefined;

  constructor(
    private readonly options: HttpOptions,
    private readonly parts: HttpParts,
  ) {
    this.rpc = new RpcRoute(options, parts);
    this.hosts = new AllowedHosts(options.host, options.allowedHosts ?? []);
  }

  /** @returns the port. @throws Error if the server cannot listen on it */
  async listen(): Promise<number> {
    const {connections, log} = this.parts;
    this.listener = await createListener(
      this.options,
      {
        connect: address => connections.connect(address, () => this.listener?.listPeers()),
        disconnect: client => connections.disconnect(client),
        take: (response, request) => this.route(response, request),
      },
      log,
    );
    return this.listener.listen(this.options.host, this.options.port);
  }

  /** What serves HTTP. undefined before `listen`. */
  get library(): Listener["library"] | undefined {
    return this.listener?.library;
  }

  /** Takes no new connections and turns new requests away. @returns when all open requests are answered */
  drain(): Promise<void> {
    this.listener?.stopListening();
    return this.rpc.drain();
  }

  close(): void {
    this.listener?.close();
  }

  private route(response: HttpResponse, request: HttpRequest): void {
    const reply = new Reply(response, this.parts.unsent, this.turns, this.parts.clients);
    const head = new RequestHead(request);
    // An answer would be taken for that of the next request on this connection, which a proxy may send for another client.
    if (head.isTrailer) {
      reply.close();
      return;
    }
    if (head.fault !== undefined) {
      refuseFraming(reply, head.fault);
      return;
    }
    const {verb} = head;
    const path = request.getUrl();
    if (!this.hosts.allows(head.host)) {
      refuseHost(reply, verb, head.host);
      return;
    }
    const isReading = verb === "get" || verb === "head";
    if (path === "/") {
      if (isReading) this.page.answer(reply, verb);
      else this.rpc.take(response, request, head, reply, verb);
      return;
    }
    if (isProofPath(path)) {
      this.rpc.takeProof(response, request, head, reply, verb);
      return;
    }
    const probe = PROBES.get(path);
    if (probe === undefined) refusePath(reply, verb);
    else if (isReading) probe(this.parts, reply, verb, request.getQuery() ?? "", this.rpc.isDraining);
    else refuseVerb(reply, verb, "GET, HEAD");
  }
}
