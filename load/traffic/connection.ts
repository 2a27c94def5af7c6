/**
 * A connection to the server with at most one request at a time. Times and answer of the request are fields of the
 * connection, so that a request allocates only its body.
 */
import {connect, isIP, type Socket} from "node:net";
import {connect as connectTls} from "node:tls";
import type {RequestBody} from "../requests/requestMaker.ts";
import {AnswerReader} from "./answerReader.ts";
import {nowMs} from "./schedule.ts";

export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly userAgent: string;
  /** Sent with every request. Lower-case names. They may contain keys. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Exactly one of these is called per request, unless `close` was called. */
interface ConnectionOwner {
  /** The answer is complete. `status` and `answer` are valid during the call. */
  onAnswer(connection: Connection): void;
  onSocketError(connection: Connection, code: string, message: string): void;
}

const EMPTY_BODY: RequestBody = {text: "", estimates: []};
/** Shared by all connections of a thread. */
const READ_BUFFER = Buffer.allocUnsafe(128 << 10);

export class Connection {
  body: RequestBody = EMPTY_BODY;
  dueMs = 0;
  /** When the request's first byte was written; 0 before. */
  writtenMs = 0;
  isBusy = false;
  idleSinceMs = nowMs();
  private isClosed = false;
  private readonly reader = new AnswerReader();
  private readonly url: URL;
  /** The head of each request up to the value of content-length. */
  private readonly head: string;
  /** undefined before the first request, and after the connection was lost. */
  private socket: Socket | undefined;

  constructor(
    {origin, path, userAgent, headers}: Endpoint,
    private readonly owner: ConnectionOwner,
  ) {
    this.url = new URL(origin);
    const sent = {"content-type": "application/json", "user-agent": userAgent, ...headers};
    const lines = Object.entries({host: this.url.host, ...sent}).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    this.head = `POST ${path} HTTP/1.1\r\n${lines.join("")}content-length: `;
  }

  get status(): number {
    return this.reader.status;
  }

  get answer(): Buffer {
    return this.reader.body;
  }

  send(body: RequestBody, dueMs: number): void {
    this.body = body;
    this.dueMs = dueMs;
    this.writtenMs = 0;
    this.isBusy = true;
    if (this.socket === undefined) this.open();
    else this.write(this.socket);
  }

  /** Closes the socket and abandons the request, without calling the owner. */
  close(): void {
    this.isClosed = true;
    this.socket?.destroy();
  }

  private write(socket: Socket): void {
    const {text} = this.body;
    const length = Buffer.byteLength(text);
    this.writtenMs = nowMs();
    socket.write(`${this.head}${length}\r\n\r\n${text}`, length === text.length ? "latin1" : "utf8");
  }

  private open(): void {
    const {protocol, hostname, port} = this.url;
    const host = hostname.replace(/^\[|\]$/g, "");
    const isTls = protocol === "https:";
    const to = {host, port: Number(port) || (isTls ? 443 : 80), noDelay: true};
    // A plain socket reads into this buffer, without streams and copies.
    const onread = {
      buffer: READ_BUFFER,
      callback: (length: number) => {
        this.receive(socket, READ_BUFFER.subarray(0, length));
        return true;
      },
    };
    const socket: Socket = isTls
      ? connectTls({...to, servername: isIP(host) === 0 ? host : ""})
      : connect({...to, onread});
    if (isTls) socket.on("data", (part: Buffer) => this.receive(socket, part));
    socket.once(isTls ? "secureConnect" : "connect", () => this.write(socket));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      this.fail(socket, error.code ?? error.name, error.message || String(error.code)),
    );
    socket.on("close", () => {
      if (this.socket !== socket) return;
      if (this.isBusy && this.reader.end()) this.finish(socket, false);
      else this.fail(socket, "CLOSED", "the server closed the connection");
    });
    this.socket = socket;
  }

  private receive(socket: Socket, part: Buffer): void {
    if (this.socket !== socket || this.isClosed) return;
    let isComplete: boolean;
    try {
      if (!this.isBusy) throw new Error("unexpected bytes");
      isComplete = this.reader.push(part);
    } catch (error) {
      this.fail(socket, "BAD_HTTP", (error as Error).message);
      return;
    }
    if (isComplete) this.finish(socket, this.reader.keepsAlive);
  }

  private finish(socket: Socket, keepsAlive: boolean): void {
    if (!keepsAlive) this.drop(socket);
    this.becomeIdle();
    if (!this.isClosed) this.owner.onAnswer(this);
  }

  /** Without a request, an error only drops the socket. */
  private fail(socket: Socket, code: string, message: string): void {
    if (this.socket !== socket) return;
    this.drop(socket);
    this.reader.end();
    if (!this.isBusy) return;
    this.becomeIdle();
    if (!this.isClosed) this.owner.onSocketError(this, code, message);
  }

  private drop(socket: Socket): void {
    this.socket = undefined;
    socket.destroy();
  }

  private becomeIdle(): void {
    this.isBusy = false;
    this.idleSinceMs = nowMs();
  }
}
