/**
 * A response of node:http as HttpResponse. Node keeps what the socket does not take, without a limit and without copying it. So a
 * chunk is copied, because its memory is used again, and nothing is written while the socket is full.
 */
import type {IncomingMessage, ServerResponse} from "node:http";
import type {HttpResponse} from "./exchange.ts";

/** A connection on which nothing comes, or whose reader takes nothing, is closed after this time. */
export const IDLE_MS = 10_000;

/** Most bytes that a write hands to the socket. */
const WRITE_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array(0);

export class NodeResponse implements HttpResponse {
  /** Everything is handed to the socket. */
  isEnded = false;
  private isAborted = false;
  private isHeadWritten = false;
  private status = "";
  private readonly headers: string[] = [];
  private offset = 0;
  private abort: () => void = () => {};

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    response.once("close", () => this.reportAbort());
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

  onWritable(handler: (offset: number) => boolean): void {
    this.response.on("drain", () => {
      if (this.isEnded || this.isAborted) return;
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

  write(chunk: Uint8Array): boolean {
    this.writeHead();
    return this.hand(chunk);
  }

  tryEnd(rest: Uint8Array, totalBytes: number): [boolean, boolean] {
    this.writeHead(totalBytes);
    let isTaken = true;
    for (let at = 0; at < rest.length && isTaken; ) {
      const chunk = rest.subarray(at, at + WRITE_BYTES);
      at += chunk.length;
      if (this.offset + chunk.length === totalBytes) {
        this.finish(Buffer.from(chunk));
        return [true, true];
      }
      this.offset += chunk.length;
      isTaken = this.hand(chunk);
    }
    return [isTaken, false];
  }

  getWriteOffset(): number {
    return this.offset;
  }

  end(body?: string, closes = false): void {
    if (closes) this.response.shouldKeepAlive = false;
    if (body !== undefined) this.writeHead(Buffer.byteLength(body));
    this.finish(body);
  }

  endWithoutBody(): void {
    this.writeHead();
    this.finish();
  }

  close(): void {
    this.request.socket.destroy();
    this.reportAbort();
  }

  getRemoteAddress(): string {
    // A socket that has just been closed has no address any more, and no answer is sent to it.
    return this.request.socket.remoteAddress ?? "::";
  }

  private hand(chunk: Uint8Array): boolean {
    const takesMore = this.response.write(Buffer.from(chunk));
    if (!takesMore) this.request.socket.setTimeout(IDLE_MS);
    return takesMore;
  }

  private finish(body?: string | Buffer): void {
    this.isEnded = true;
    this.response.end(body);
    if (this.response.writableNeedDrain) this.request.socket.setTimeout(IDLE_MS);
  }

  private writeHead(contentBytes?: number): void {
    if (this.isHeadWritten) return;
    this.isHeadWritten = true;
    const {status, headers} = this;
    if (contentBytes !== undefined) headers.push("Content-Length", String(contentBytes));
    this.response.writeHead(Number(status.slice(0, 3)), status.slice(4), headers);
  }

  private reportAbort(): void {
    if (this.isEnded || this.isAborted) return;
    this.isAborted = true;
    this.abort();
  }
}
