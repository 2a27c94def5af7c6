/**
 * A response of node:http as HttpResponse. Node keeps what the socket does not take, without a limit and without
 * copying it. So a chunk whose memory is used again is copied, and nothing is written while the socket is full.
 */
import type {IncomingMessage, ServerResponse} from "node:http";
import type {HttpResponse} from "./exchange.ts";

/** A connection on which nothing comes, or whose reader takes nothing, is closed after this time. */
export const IDLE_MS = 10_000;

/** Most bytes that a write hands to the socket. */
const WRITE_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array(0);

export class NodeResponse implements HttpResponse {
  /** Everything is handed to Node. */
  isEnded = false;
  /** The system has taken everything. */
  isSent = false;
  /** Called when the response is sent or its connection has closed. */
  onClosed: (() => void) | undefined;
  private isOver = false;
  private isHeadWritten = false;
  private status = "";
  private readonly headers: string[] = [];
  private offset = 0;
  private abort: () => void = () => {};
  private writeOn: (offset: number) => void = () => {};

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly reading: Pick<HttpResponse, "pause" | "resume">,
  ) {
    // Before Node's own handler, which may close the connection.
    response.prependOnceListener("finish", () => {
      // Node ends the writes of a connection that breaks as if they were done.
      if (request.socket.destroyed) return;
      this.isSent = true;
      if (!this.isOver) this.writeOn(this.offset);
    });
    response.once("close", () => {
      this.reportAbort();
      this.onClosed?.();
    });
    // A connection that breaks: `close` follows.
    response.on("error", () => {});
  }

  onAborted(handler: () => void): void {
    this.abort = handler;
  }

  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    const {request} = this;
    let left = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
    let isComplete = false;
    const give = (chunk: Uint8Array, isLast: boolean): void => {
      isComplete = isLast;
      // An answer may take longer than a connection may be idle.
      if (isLast) request.socket.setTimeout(0);
      handler(chunk, isLast);
    };
    request.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      give(chunk, left === 0);
    });
    request.on("end", () => {
      if (!isComplete) give(NO_BYTES, true);
    });
  }

  pause(): void {
    this.reading.pause();
    this.request.socket.setTimeout(0);
  }

  resume(): void {
    this.request.socket.setTimeout(IDLE_MS);
    this.reading.resume();
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.writeOn = handler;
    this.response.on("drain", () => {
      if (this.isOver) return;
      this.request.socket.setTimeout(0);
      handler(this.offset);
    });
  }

  cork(write: () => void): void {
    write();
  }

  writeStatus(status: string): void {
    this.status = status;
  }

  writeHeader(name: string, value: string): void {
    this.headers.push(name, value);
  }

  write(chunk: Uint8Array, isStable: boolean): boolean {
    this.writeHead();
    return this.hand(isStable ? chunk : Buffer.from(chunk));
  }

  /** The last chunk counts when the system has taken it. Until then, `rest` is what remains of it. */
  tryEnd(rest: Uint8Array, totalBytes: number): [boolean, boolean] {
    this.writeHead(totalBytes);
    for (let at = 0; at < rest.length && !this.isEnded; at += WRITE_BYTES) {
      const chunk = rest.subarray(at, at + WRITE_BYTES);
      if (this.offset + chunk.length === totalBytes) this.finish(Buffer.from(chunk));
      else {
        this.offset += chunk.length;
        if (!this.hand(Buffer.from(chunk))) return [false, false];
      }
    }
    if (!this.isEnded) return [true, false];
    this.isOver = this.isSent;
    return [this.isSent, this.isSent];
  }

  getWriteOffset(): number {
    return this.offset;
  }

  end(body?: string, closes = false): void {
    if (closes) this.response.shouldKeepAlive = false;
    if (body !== undefined) this.writeHead(Buffer.byteLength(body));
    this.isOver = true;
    this.finish(body);
  }

  endWithoutBody(): void {
    this.writeHead();
    this.isOver = true;
    this.finish();
  }

  close(): void {
    // Without it, Node would do so with an error, which takes 30 us.
    this.request.destroy();
    this.request.socket.destroy();
    this.reportAbort();
  }

  getRemoteAddress(): string {
    // A socket that has just been closed has no address any more, and no answer is sent to it.
    return this.request.socket.remoteAddress ?? "::";
  }

  private hand(chunk: Uint8Array): boolean {
    const {response} = this;
    const {socket} = response;
    // Without it, Node would cork the response and write at the end of the turn, in time that no client is charged for.
    socket?.cork();
    const takesMore = response.write(chunk);
    socket?.uncork();
    if (!takesMore) this.request.socket.setTimeout(IDLE_MS);
    return takesMore;
  }

  private finish(body?: string | Buffer): void {
    this.isEnded = true;
    this.response.end(body);
    // Not writableFinished, which later versions of Node set in a later turn.
    this.isSent = this.response.writableLength === 0;
    if (!this.isSent) this.request.socket.setTimeout(IDLE_MS);
  }

  private writeHead(contentBytes?: number): void {
    if (this.isHeadWritten) return;
    this.isHeadWritten = true;
    const {status, headers} = this;
    if (contentBytes !== undefined) headers.push("Content-Length", String(contentBytes));
    this.response.writeHead(Number(status.slice(0, 3)), status.slice(4), headers);
  }

  private reportAbort(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.abort();
  }
}
