/** Listens with node:http. Idle times, the size of heads and pipelining are as with uWebSockets.js. */

import {createServer, type Server} from "node:http";
import {type AddressInfo, Server as NetServer, type Socket} from "node:net";
import type {Logger} from "pino";
import {type Exchanges, type Listener, REFUSAL_HEADERS} from "./exchange.ts";
import {explainListenFailure} from "./listenFailure.ts";
import {NodeConnection} from "./nodeConnection.ts";
import {IDLE_MS} from "./nodeResponse.ts";

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
  private readonly connections = new WeakMap<Socket, NodeConnection>();

  constructor(
    private readonly exchanges: Exchanges,
    private readonly log: Logger,
  ) {
    this.server.timeout = IDLE_MS;
    this.server.on("connection", socket => this.connect(socket));
    this.server.on("request", (request, response) =>
      this.connections.get(request.socket)?.take(request, response),
    );
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

  /** Not the server's own `close`, which also closes idle connections, on which a request may be on its way. */
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
    if (!isRefused) {
      this.connections.set(socket, new NodeConnection(socket, connected.client, this.exchanges));
      return;
    }
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
}
