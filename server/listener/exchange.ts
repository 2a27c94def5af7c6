/** One request and its response as listeners hand them over. The methods are those of uWebSockets.js. */

import type {SharedBytes} from "../fairness/sharedBytes.ts";
import type {Work} from "../fairness/work.ts";

/** Valid only during the call that hands it over. */
export interface HttpRequest {
  getCaseSensitiveMethod(): string;
  /** The path, without the query. */
  getUrl(): string;
  /** What follows the question mark, "" if there is none. */
  getQuery(): string;
  /** Names every header, also those that come twice. Names are in lower case. */
  forEach(visit: (name: string, value: string) => void): void;
}

/** Invalid after the client has gone, and after its end. */
export interface HttpResponse {
  /** @param handler - called at most once, if the connection closes before the response is complete */
  onAborted(handler: () => void): unknown;
  /** @param handler - gets the body. A chunk's memory may be used again after the call */
  onData(handler: (chunk: ArrayBuffer | Uint8Array, isLast: boolean) => void): unknown;
  /** Reads no more of the body for now. A client that goes away meanwhile may not be noticed. */
  pause(): unknown;
  resume(): unknown;
  /** @param handler - called when a socket that took no more takes bytes again */
  onWritable(handler: (offset: number) => boolean): unknown;
  cork(write: () => void): unknown;
  /** @param status - such as "200 OK". Comes before the headers, and these before the body */
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  /**
   * Sends, copies or keeps a part of a body of unknown length.
   *
   * @param isStable - the chunk may be kept. If not, its memory may be written again after the call
   * @returns false if the socket takes no more for now
   */
  write(chunk: Uint8Array, isStable: boolean): boolean;
  /** Sends the rest of a body of known length, or a part. @returns whether `rest` was taken; whether all is sent */
  tryEnd(rest: Uint8Array, totalBytes: number): [boolean, boolean];
  /** Bytes of the body that `tryEnd` has sent or copied. */
  getWriteOffset(): number;
  /** @param closes - close the connection after it */
  end(body?: string, closes?: boolean): unknown;
  endWithoutBody(): unknown;
  /** Closes the connection at once, and calls the handler of `onAborted`. */
  close(): unknown;
  /** 4 or 16 bytes, or the address as text. */
  getRemoteAddress(): ArrayBuffer | string;
}

/** A new connection: its client, to be named when it closes, or the body of a 503 after which it is closed. */
export type Connected = {readonly client: string} | {readonly refusal: string};

export const REFUSAL_HEADERS = [
  ["Content-Type", "application/json"],
  ["Retry-After", "1"],
] as const;

export interface Exchanges {
  connect(address: ReturnType<HttpResponse["getRemoteAddress"]>): Connected;
  /** @param client - of the connection that has closed, "" if it was refused. undefined: it is not known */
  disconnect(client: string | undefined): void;
  take(response: HttpResponse, request: HttpRequest): void;
  /** Bytes that were read and wait for their turn. */
  readonly unread: SharedBytes;
  /** Reads what a connection of the client has sent, in the client's turns. */
  work(client: string, reading: Work): void;
}

/** Opens a port, and hands over the requests that come on it. */
export interface Listener {
  readonly library: "uws" | "node";
  /** What the library itself takes for a request and its answer, in ms of the main thread; 0: next to nothing. */
  readonly requestMs: number;
  /** @returns the port. @throws Error if the system refuses the address */
  listen(host: string, port: number): Promise<number>;
  /** The addresses of all open connections. undefined: they are not known, or all are told of when they close. */
  listPeers(): readonly Buffer[] | undefined;
  /** Takes no new connections. Those that are open continue. */
  stopListening(): void;
  /** Also closes all connections. */
  close(): void;
}
