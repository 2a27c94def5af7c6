/**
 * Listens with node:http. It behaves like uWebSockets.js where clients can tell: times of idle connections, the largest head, and
 * requests that do not wait for the answer before (pipelining).
 */

import {createServer, type IncomingMessage, type Server, type ServerResponse} from "node:http";
import {type AddressInfo, Server as NetServer, type Socket} from "node:net";
import type {Logger} from "pino";
import {type Exchanges, type HttpRequest, type Listener, REFUSAL_HEADERS} from "./exchange.ts";
import {explainListenFailure} from "./listenFailure.ts";
import {IDLE_MS, NodeResponse} from "./nodeResponse.ts";

const OPTIONS = {
  headersTimeout: IDLE_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: IDLE_MS / 4,
  /** A head may have as many bytes with uWebSockets.js. */
  maxHeaderSize: 4096,
};

export class NodeListener implements Listener {
  readonly library = "node";
  readonly requestMs = 0.2;
  private readonly server: Server = createServer(OPTIONS);
  /** The response of each connection's last request. */
  private readonly last = new WeakMap<Socket, NodeResponse>();

  constructor(
    private readonly exchanges: Exchanges,
    private readonly log: Logger,
  ) {
    this.server.timeout = IDLE_MS;
    this.server.on("connection", socket => this.connect(socket));
    this.server.on("request", (request, response) => this.take(request, response));
  }

  listen(host: string, port: number): Promise<number> {
    const {server} = this;
    return new Promise(resolve => {
      const fail = () => resolve(explainListenFailure(host, port));
      server.once("error", fail);
      server.listen({host, port, exclusive: true}, () => {
        server.off("error", fail);
        server.on("error", err => this.log.error({err}, "a connection could not be accepted"));
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  /** Not the server's own `close`, which would also close idle connections: a client may be sending its next request on one. */
  stopListening(): void {
    NetServer.prototype.close.call(this.server);
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Each connection says whose it was when it closes. */
  listPeers(): undefined {
    return undefined;
  }

  private connect(socket: Socket): void {
    const connected = this.exchanges.connect(socket.remoteAddress ?? "::");
    const isRefused = "refusal" in connected;
    socket.once("close", () => this.exchanges.disconnect(isRefused ? "" : connected.client));
    if (!isRefused) return;
    const {refusal} = connected;
    const headers = [
      ...REFUSAL_HEADERS,
      ["Content-Length", Buffer.byteLength(refusal)],
      ["Connection", "close"],
    ];
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 503 Service Unavailable\r\n${lines.join("")}\r\n${refusal}`);
    socket.destroySoon();
  }

  private take(request: IncomingMessage, answer: ServerResponse): void {
    const {socket} = request;
    if (socket.destroyed || socket.writableEnded) return;
    const earlier = this.last.get(socket);
    if (earlier !== undefined && !earlier.isSent) {
      if (!earlier.isEnded || earlier.onClosed !== undefined) earlier.close();
      else earlier.onClosed = () => this.take(request, answer);
      return;
    }
    const response = new NodeResponse(request, answer);
    this.last.set(socket, response);
    this.exchanges.take(response, new NodeRequest(request));
  }
}

/** A target as clients send it to proxies, and as servers must read it (RFC 9112, section 3.2.2): http://HOST/PATH?QUERY. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?]+)(.*)$/i;

/** A request of node:http as HttpRequest. */
class NodeRequest implements HttpRequest {
  private readonly path: string;
  private readonly query: string;
  /** Of a target in absolute form. It counts in place of the Host header. */
  private readonly host: string | undefined;

  constructor(private readonly request: IncomingMessage) {
    const target = String(request.url);
    const [, host, rest = target] = target.startsWith("/") ? [] : (ABSOLUTE_FORM.exec(target) ?? []);
    this.host = host;
    const end = rest.indexOf("?");
    const path = end === -1 ? rest : rest.slice(0, end);
    this.path = path === "" ? "/" : path;
    this.query = end === -1 ? "" : rest.slice(end + 1);
  }

  getCaseSensitiveMethod(): string {
    return String(this.request.method);
  }

  getUrl(): string {
    return this.path;
  }

  getQuery(): string {
    return this.query;
  }

  forEach(visit: (name: string, value: string) => void): void {
    const {rawHeaders} = this.request;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at].toLowerCase();
      visit(name, name === "host" && this.host !== undefined ? this.host : rawHeaders[at + 1]);
    }
  }
}
