/**
 * The HTTP server: opens the port with what ../listener chooses, routes the paths and stops.
 *
 *   POST /          JSON-RPC                    GET /healthz   the process runs
 *   GET  /          the web page (webPage.ts)   GET /readyz    it should get requests (readiness.ts), and is not stopping
 *   GET  /metrics   for operators               GET /v1/..     a proof that caches may keep (proofRoute.ts)
 *   POST /ccip, GET /ccip/..   CCIP-read (ccipRoute.ts)
 *
 * uWebSockets.js cannot keep a request of a connection waiting. A client that sends a second one before the first is
 * answered (pipelining) loses that connection, and nothing else (intake.ts). (Pausing the socket would help only if the
 * requests come in separate TCP segments, and would hide that a client has gone.)
 */
import type {Logger} from "pino";
import {SharedBytes} from "../fairness/sharedBytes.ts";
import {createListener, type ListenerOptions} from "../listener/createListener.ts";
import type {Exchanges, HttpRequest, HttpResponse, Listener} from "../listener/exchange.ts";
import {isProofPath} from "../methods/proof/proofTarget.ts";
import {shorten} from "../rpc/rpcError.ts";
import {AllowedHosts, isLoopback} from "./allowedHosts.ts";
import {answerRead, dropBody} from "./body.ts";
import {CCIP_PATH, isCcipPath} from "./ccipRoute.ts";
import type {Clients} from "./clientAddress.ts";
import type {Connections} from "./connections.ts";
import {Intake} from "./intake.ts";
import {METRICS, PROBES, type ProbeParts} from "./probes.ts";
import {encodeInvalid, encodeLimit, refuse, refusePath, refuseVerb} from "./refusals.ts";
import {JSON_TYPE, Reply} from "./reply.ts";
import {RequestHead} from "./requestHead.ts";
import {type RpcOptions, type RpcParts, RpcRoute} from "./rpcRoute.ts";
import type {UnsentBytes} from "./unsentBytes.ts";
import {WebPage} from "./webPage.ts";

export interface HttpOptions extends RpcOptions, ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** For operators: /metrics, /healthz, /readyz. undefined: /metrics is on `port` if only this machine reaches it. */
  readonly metricsPort?: number | undefined;
  /** Names by which requests may call the server, besides localhost (allowedHosts.ts). Default: none. */
  readonly allowedHosts?: readonly string[];
}

interface HttpParts extends RpcParts, ProbeParts {
  readonly unsent: UnsentBytes;
  readonly clients: Clients;
  readonly connections: Connections;
  readonly log: Logger;
}

/** A read of a socket has 64 KB. */
const UNREAD = {bodyBytes: 2 ** 20, bodyBytesTotal: 64 * 2 ** 20};

const METRICS_ELSEWHERE = "/metrics is not on this port: --metrics-port gives it one of its own";

const OPERATORS = 64;

export class HttpServer {
  private readonly rpc: RpcRoute;
  private readonly hosts: AllowedHosts;
  private readonly page = new WebPage();
  private readonly intake = new Intake();
  private listener: Listener | undefined;
  private operators: Listener | undefined;
  private readonly showsMetrics: boolean;
  private readonly reading: Pick<Exchanges, "unread" | "work"> = {
    unread: new SharedBytes(UNREAD),
    work: (client, work) => this.intake.start(work, () => client, "read"),
  };

  constructor(
    private readonly options: HttpOptions,
    private readonly parts: HttpParts,
  ) {
    this.rpc = new RpcRoute(options, parts, this.intake);
    const {host, metricsPort, allowedHosts = []} = options;
    this.hosts = new AllowedHosts(host, allowedHosts);
    this.showsMetrics = metricsPort === undefined && isLoopback(host);
  }

  /** @returns the port. @throws Error if the server cannot listen on it */
  async listen(): Promise<number> {
    const {connections, log} = this.parts;
    this.listener = await createListener(
      this.options,
      {
        connect: address => {
          this.intake.shorten();
          return connections.connect(address, () => this.listener?.listPeers());
        },
        disconnect: client => connections.disconnect(client),
        take: (response, request) => this.route(response, request, false),
        ...this.reading,
      },
      log,
    );
    return this.listener.listen(this.options.host, this.options.port);
  }

  /** After `listen`. @returns the port for operators; undefined without one. @throws as `listen` */
  async listenForOperators(): Promise<number | undefined> {
    const {host, metricsPort} = this.options;
    if (metricsPort === undefined) return undefined;
    let open = 0;
    const message = "too many connections are open";
    this.operators = await createListener(
      {http: this.library},
      {
        connect: () => (++open > OPERATORS ? {refusal: encodeLimit(message, OPERATORS, open)} : {client: ""}),
        disconnect: () => {
          open--;
        },
        take: (response, request) => this.route(response, request, true),
        ...this.reading,
      },
      this.parts.log,
    );
    return this.operators.listen(host, metricsPort);
  }

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
    this.operators?.close();
  }

  /** @param isOperators - whether it came on the port for operators */
  private route(response: HttpResponse, request: HttpRequest, isOperators: boolean): void {
    const {unsent, clients, connections} = this.parts;
    const client = isOperators ? undefined : connections.only;
    const reply = new Reply(response, unsent, this.intake, clients, client);
    const head = new RequestHead(request);
    // It would be taken for the answer to the connection's next request, which may be another client's.
    if (head.isTrailer) {
      reply.close();
      return;
    }
    if (head.fault !== undefined) {
      // Where the next request begins is not known: the connection ends.
      reply.send("400 Bad Request", [JSON_TYPE], encodeInvalid(head.fault), true);
      return;
    }
    const {requestMs = 0} = this.listener ?? {};
    if (requestMs > 0) this.intake.spend(requestMs);
    const path = request.getUrl();
    reply.isChunked = head.isChunked;
    reply.forwarded = this.parts.proxies?.findClient(response, request);
    const isAllowed = this.hosts.allows(head.host);
    const isCcip = path === CCIP_PATH;
    if (isAllowed && (path === "/" || isCcip) && head.verb === "post" && !isOperators) {
      this.rpc.receive(response, head, reply, isCcip);
      return;
    }
    const query = request.getQuery() ?? "";
    const answer = () => {
      if (isAllowed) this.answer(path, query, head, reply, isOperators);
      else {
        const got = shorten(head.host);
        const message = `expected a Host header with an address, localhost or a name of --allow-host, got ${got}`;
        refuse(reply, head.verb, "421 Misdirected Request", message);
      }
    };
    if (head.isChunked || Number(head.contentLength) > 0) dropBody(response, reply, this.intake, answer);
    else this.intake.start(answerRead(0, reply, answer), () => reply.readClient(), "short");
  }

  private answer(path: string, query: string, head: RequestHead, reply: Reply, isOperators: boolean): void {
    const {verb} = head;
    const isReading = verb === "get" || verb === "head";
    const isPublic = !isOperators;
    const probe = PROBES.get(path);
    if (isPublic && path === "/" && isReading) this.page.answer(reply, verb);
    else if (isPublic && path === "/") this.rpc.answer(head, reply);
    else if (isPublic && isProofPath(path)) this.rpc.answerProof({path, query}, head, reply);
    else if (isPublic && isCcipPath(path)) this.rpc.answerCcip(path, head, reply);
    else if (probe === undefined) refusePath(reply, verb);
    else if (path === METRICS && isPublic && !this.showsMetrics)
      refuse(reply, verb, "404 Not Found", METRICS_ELSEWHERE);
    else if (isReading) probe(this.parts, reply, {verb, query, isStopping: this.rpc.isDraining, isPublic});
    else refuseVerb(reply, verb, "GET, HEAD");
  }
}
