/**
 * Listens with node:http. It behaves like uWebSockets.js where clients can tell: times of idle connections, the largest head, and
 * requests that do not wait for the answer before (pipelining).
 */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from "node:http";
import {type AddressInfo, Server as NetServer, type Socket} from "node:net";
import type {Logger} from "pino";
import type {Exchanges, Listener} from "./exchange.ts";
import {explainListenFailure} from "./listenFailure.ts";
import {NodeRequest} from "./nodeRequest.ts";
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
  private readonly server: Server = createServer(OPTIONS);
  /** The response of each connection's last request. */
  private readonly last = new WeakMap<Socket, NodeResponse>();

  constructor(
    private readonly exchanges: Exchanges,
    private readonly log: Logger,
  ) {
    this.server.timeout = IDLE_MS;
    this.server.on("connection", socket => this.count(socket));
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

  private count(socket: Socket): void {
    socket.once("close", () => this.exchanges.count(-1, () => {}));
    this.exchanges.count(1, () => socket.destroy());
  }

  private take(request: IncomingMessage, answer: ServerResponse): void {
    const {socket} = request;
    if (socket.destroyed) return;
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
