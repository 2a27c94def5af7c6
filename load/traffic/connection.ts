/**
 * One connection to the server with at most one request on it. It uses undici's Client without pipelining, because
 * uWebSockets.js closes pipelined connections. The times and the answer of a request are in the connection's own fields: only
 * the body is allocated for each request.
 */
import {Client, type Dispatcher} from "undici";
import type {RequestBody} from "../requests/requestMaker.ts";
import {nowMs} from "./schedule.ts";

export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly userAgent: string;
  readonly timeoutMs: number;
}

/** Told how each request ends, unless the connection was closed: exactly one of these calls per request. */
interface ConnectionOwner {
  /** A whole answer has arrived. Its status and chunks are in the connection. */
  onAnswer(connection: Connection): void;
  onSocketError(connection: Connection, code: string, message: string): void;
}

const EMPTY_BODY: RequestBody = {text: "", estimates: []};

export class Connection implements Dispatcher.DispatchHandlers {
  /** The body of the current request, or of the last one. */
  body: RequestBody = EMPTY_BODY;
  /** When the request was due, or when it was handed over if no time was set for it. */
  dueMs = 0;
  /** When the request's first byte was written; 0 before. */
  writtenMs = 0;
  status = 0;
  chunks: Uint8Array[] = [];
  isBusy = false;
  /** When its last request ended. */
  idleSinceMs = nowMs();
  private isClosed = false;
  private readonly options: Dispatcher.DispatchOptions;
  private readonly client: Client;

  constructor(
    {origin, path, userAgent, timeoutMs}: Endpoint,
    private readonly owner: ConnectionOwner,
  ) {
    const headers = ["content-type", "application/json", "user-agent", userAgent];
    this.options = {path, method: "POST", headers};
    // The driver has its own time-outs: they count from when a request was due, and are finer than undici's.
    const timeouts = {headersTimeout: 0, bodyTimeout: 0, connect: {timeout: timeoutMs}};
    this.client = new Client(origin, {pipelining: 1, ...timeouts});
  }

  send(body: RequestBody, dueMs: number): void {
    this.body = body;
    this.dueMs = dueMs;
    this.writtenMs = 0;
    this.status = 0;
    this.chunks = [];
    this.isBusy = true;
    this.client.dispatch({...this.options, body: body.text}, this);
  }

  /** Closes the socket, and gives up the request. The owner is not told. */
  close(): void {
    this.isClosed = true;
    void this.client.destroy();
  }

  onConnect(): void {
    this.writtenMs = nowMs();
  }

  onHeaders(status: number): boolean {
    this.status = status;
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    if (!this.isClosed) this.owner.onAnswer(this.becomeIdle());
  }

  onError(error: Error): void {
    if (this.isClosed) return;
    const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
    this.owner.onSocketError(this.becomeIdle(), code, error.message);
  }

  private becomeIdle(): this {
    this.isBusy = false;
    this.idleSinceMs = nowMs();
    return this;
  }
}
