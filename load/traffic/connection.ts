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

/** Told how each request ends: exactly one of these calls per request. */
interface ConnectionOwner {
  /** A whole answer has arrived. Its status and chunks are in the connection. */
  onAnswer(connection: Connection): void;
  onSocketError(connection: Connection, code: string, message: string): void;
}

const EMPTY_BODY: RequestBody = {text: "", estimates: []};

export class Connection {
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
  idleSinceMs = 0;
  private readonly options: Dispatcher.DispatchOptions;
  private client: Client;
  private handler: Dispatcher.DispatchHandlers;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly owner: ConnectionOwner,
  ) {
    this.options = {
      path: endpoint.path,
      method: "POST",
      headers: ["content-type", "application/json", "user-agent", endpoint.userAgent],
    };
    this.client = this.createClient();
    this.handler = this.createHandler(this.client);
  }

  send(body: RequestBody, dueMs: number): void {
    this.body = body;
    this.dueMs = dueMs;
    this.writtenMs = 0;
    this.status = 0;
    this.chunks = [];
    this.isBusy = true;
    this.client.dispatch({...this.options, body: body.text}, this.handler);
  }

  /** Gives up the request and closes the socket. The owner is not told. */
  cut(): void {
    const client = this.client;
    this.client = this.createClient();
    this.handler = this.createHandler(this.client);
    this.becomeIdle();
    void client.destroy();
  }

  close(): void {
    void this.client.destroy();
  }

  private createClient(): Client {
    return new Client(this.endpoint.origin, {
      pipelining: 1,
      // The driver has its own time-outs: they count from when a request was due, and are finer than undici's.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {timeout: this.endpoint.timeoutMs},
    });
  }

  /** @param client - its events are ignored once it was cut */
  private createHandler(client: Client): Dispatcher.DispatchHandlers {
    return {
      onConnect: () => {
        if (client === this.client) this.writtenMs = nowMs();
      },
      onHeaders: status => {
        if (client === this.client) this.status = status;
        return true;
      },
      onData: chunk => {
        if (client === this.client) this.chunks.push(chunk);
        return true;
      },
      onComplete: () => {
        if (client !== this.client) return;
        this.becomeIdle();
        this.owner.onAnswer(this);
      },
      onError: error => {
        if (client !== this.client) return;
        this.becomeIdle();
        const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
        this.owner.onSocketError(this, code, error.message);
      },
    };
  }

  private becomeIdle(): void {
    this.isBusy = false;
    this.idleSinceMs = nowMs();
  }
}
