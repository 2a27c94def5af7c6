/**
 * Counts the open connections and refuses new ones above a limit. Without one, the process runs out of descriptors;
 * then the system refuses the next connection, and the event loop asks for it again without end.
 *
 *   0                                                    3/4                all
 *   | a client may have an eighth, a trusted proxy any number | clients with few |
 *
 * uWebSockets.js does not say whose connection has closed. So a client's number is an upper bound there, and before a
 * connection is refused for it, all are counted again from what the system says.
 */
import type {Logger} from "pino";
import type {Connected} from "../listener/exchange.ts";
import {type Address, addressText, type Clients} from "./clientAddress.ts";
import {encodeLimit} from "./refusals.ts";

const WARN_EVERY_MS = 10_000;
const CLIENT_SHARE = 1 / 8;
/** Those above this share are for clients that have few. */
const OPEN_TO_ALL = 3 / 4;
/** A browser opens six. */
const FEW = 8;
const KEPT_CLIENTS = 1000;
/** A recount takes some milliseconds. The next one comes this many times as long after it. */
const RECOUNT_PAUSE = 50;

const WHY = {
  total: "too many are open (ulimit -n)",
  client: "one client has too many. Name it with --trust-forwarded if it is a proxy",
};
const WHAT = {total: "too many connections are open", client: "too many connections of one client are open"};
/** The connections of a proxy are those of many clients, and a refused one is nobody's. */
const NOBODY = "";

interface ConnectionOptions {
  readonly limit: number;
  readonly clients: Clients;
  readonly isProxy: (address: Address) => boolean;
  readonly log: Logger;
}

export class Connections {
  open = 0;
  readonly refused = {total: 0, client: 0};
  /**
   * The client of all open connections. undefined: there may be several. uWebSockets.js does not say whose a connection
   * is, and to read the address of each request takes a tenth of the main thread's time for a proof.
   */
  only: string | undefined;
  /** An upper bound where it is not known whose connections have closed. */
  private byClient = new Map<string, number>();
  private nextRecountMs = 0;
  private nextWarnMs = 0;

  constructor(private readonly options: ConnectionOptions) {}

  /** @param listPeers - addresses of all open connections, this one too; undefined where they are not known */
  connect(address: Address, listPeers: () => readonly Address[] | undefined): Connected {
    const {limit, clients, isProxy} = this.options;
    this.open++;
    if (this.open > limit) return this.refuse("total", limit, this.open, address);
    const client = isProxy(address) ? undefined : clients.of(address);
    this.only = this.open === 1 || client === this.only ? client : undefined;
    if (client === undefined) return {client: NOBODY};
    const most = this.open > limit * OPEN_TO_ALL ? FEW : Math.max(FEW, Math.floor(limit * CLIENT_SHARE));
    let own = (this.byClient.get(client) ?? 0) + 1;
    if (own > this.open) own = this.open;
    if ((own > most || this.byClient.size > 2 * this.open + KEPT_CLIENTS) && this.recount(listPeers))
      own = this.byClient.get(client) ?? 1;
    if (own > most) return this.refuse("client", most, own, address);
    this.byClient.set(client, own);
    return {client};
  }

  /** @param client - undefined: it is not known */
  disconnect(client: string | undefined): void {
    this.open--;
    if (client === undefined || client === NOBODY) return;
    const left = (this.byClient.get(client) ?? 0) - 1;
    if (left > 0) this.byClient.set(client, left);
    else this.byClient.delete(client);
  }

  private recount(listPeers: () => readonly Address[] | undefined): boolean {
    const startMs = performance.now();
    if (startMs < this.nextRecountMs) return false;
    const peers = listPeers();
    if (peers === undefined) return false;
    this.byClient = new Map();
    for (const peer of peers) {
      const client = this.options.clients.of(peer);
      this.byClient.set(client, (this.byClient.get(client) ?? 0) + 1);
    }
    const endMs = performance.now();
    this.nextRecountMs = endMs + RECOUNT_PAUSE * (endMs - startMs);
    return true;
  }

  private refuse(reason: keyof typeof this.refused, limit: number, got: number, address: Address): Connected {
    this.refused[reason]++;
    const nowMs = performance.now();
    if (nowMs >= this.nextWarnMs) {
      this.nextWarnMs = nowMs + WARN_EVERY_MS;
      const peer = addressText(address);
      this.options.log.warn(
        {limit, got, peer, refused: this.refused},
        `new connections are refused: ${WHY[reason]}`,
      );
    }
    return {refusal: encodeLimit(`${WHAT[reason]}: try again later`, limit, got)};
  }
}
