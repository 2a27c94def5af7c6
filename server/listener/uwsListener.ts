/** Listens with uWebSockets.js. */
import type {TemplatedApp, us_listen_socket, us_socket} from "uWebSockets.js";
import {type Exchanges, type HttpResponse, type Listener, REFUSAL_HEADERS} from "./exchange.ts";
import {explainListenFailure} from "./listenFailure.ts";
import {listPeers} from "./peers.ts";
import {loadUws, type UwsLibrary} from "./uwsLibrary.ts";

/** LIBUS_LISTEN_EXCLUSIVE_PORT. The module exports it, but its types lack it. */
const LISTEN_EXCLUSIVELY = 1;

export class UwsListener implements Listener {
  readonly library = "uws";
  readonly requestMs = 0;
  private readonly app: TemplatedApp;
  private listenSocket: us_listen_socket | undefined;
  private port = 0;

  private constructor(
    private readonly uws: UwsLibrary,
    exchanges: Exchanges,
  ) {
    this.app = uws.App();
    // It has no address any more when it has closed.
    this.app.filter((response, change) =>
      Number(change) < 0 ? exchanges.disconnect(undefined) : this.connect(response, exchanges),
    );
    this.app.any("/*", (response, request) => exchanges.take(response, request));
  }

  static load(exchanges: Exchanges): UwsListener {
    return new UwsListener(loadUws(), exchanges);
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise(resolve => {
      // Else two processes could share the port, and the kernel would divide the requests. The types lack this form.
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
        this.port = this.uws.us_socket_local_port(socket as us_socket);
        resolve(this.port);
      });
    });
  }

  listPeers(): readonly Buffer[] | undefined {
    return listPeers(this.port);
  }

  stopListening(): void {
    if (this.listenSocket !== undefined) this.uws.us_listen_socket_close(this.listenSocket);
    this.listenSocket = undefined;
  }

  close(): void {
    this.app.close();
  }

  private connect(response: HttpResponse, exchanges: Exchanges): void {
    const connected = exchanges.connect(response.getRemoteAddress());
    if (!("refusal" in connected)) return;
    response.cork(() => {
      response.writeStatus("503 Service Unavailable");
      for (const [name, value] of REFUSAL_HEADERS) response.writeHeader(name, value);
      response.end(connected.refusal, true);
    });
  }
}
