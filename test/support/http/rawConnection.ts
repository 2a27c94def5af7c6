/** A TCP connection to an HTTP server, for things that a well-behaved client does not do: half requests, pipelines, pauses. */
import {once} from "node:events";
import {connect, type Socket} from "node:net";
import {within} from "../wait.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The whole text of a POST with a Content-Length. */
export function encodePost(body: string, headers = "", path = "/"): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`;
}

export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the connection is closed, also after an error. */
  readonly closed: Promise<void>;
  /** The first `byteCount` bytes of it came and were not read. It doubles when full, so that each byte is copied few times. */
  private received = Buffer.alloc(1 << 16);
  private byteCount = 0;
  private pauseAt = Number.POSITIVE_INFINITY;
  private isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("data", chunk => this.append(chunk));
    // Not events.once, which rejects if an error comes before the close.
    this.closed = new Promise(resolve => {
      socket.once("close", () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  /** @param localAddress - the address that the server sees; default: 127.0.0.1 */
  static async open(port: number, localAddress?: string): Promise<RawConnection> {
    const socket = connect({port, host: "127.0.0.1", ...(localAddress === undefined ? {} : {localAddress})});
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  /** Resolves when the kernel has taken the bytes. */
  write(text: string | Uint8Array): Promise<void> {
    return new Promise(resolve => this.socket.write(text, () => resolve()));
  }

  /** @returns the next answer. @throws Error if the connection closes before it is complete */
  async readAnswer(): Promise<RawAnswer> {
    for (;;) {
      const received = this.received.subarray(0, this.byteCount);
      const parsed = parseAnswer(received);
      if (parsed !== undefined) {
        this.byteCount = received.copy(this.received, 0, parsed.end);
        return parsed.answer;
      }
      if (this.isClosed)
        throw new Error(`closed after ${received.length} bytes: ${received.subarray(0, 200)}`);
      await within("more of an answer", Promise.race([once(this.socket, "data"), this.closed]));
    }
  }

  /** Reads everything that was not read as an answer, up to the close. */
  async readToClose(): Promise<string> {
    await within("the end of a connection", this.closed);
    return this.received.toString("utf8", 0, this.byteCount);
  }

  /** Reads about this many more bytes and pauses, also beside readAnswer. A reader that takes nothing for 10 s is cut. */
  sip(bytes: number): void {
    this.pauseAt = this.byteCount + bytes;
    this.socket.resume();
  }

  private append(chunk: Buffer): void {
    const needed = this.byteCount + chunk.length;
    if (needed > this.received.length) {
      const larger = Buffer.alloc(2 * needed);
      this.received.copy(larger, 0, 0, this.byteCount);
      this.received = larger;
    }
    this.byteCount += chunk.copy(this.received, this.byteCount);
    if (this.byteCount >= this.pauseAt) this.socket.pause();
  }

  destroy(): void {
    this.socket.destroy();
  }
}

function parseAnswer(received: Buffer): {answer: RawAnswer; end: number} | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine, ...lines] = received.toString("latin1", 0, headEnd).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines)
    headers[line.slice(0, line.indexOf(":")).toLowerCase()] = line.slice(line.indexOf(":") + 2);
  const status = Number(String(statusLine).split(" ")[1]);
  const start = headEnd + 4;
  if (headers["transfer-encoding"] === "chunked") {
    const chunks = parseChunks(received, start);
    if (chunks === undefined) return undefined;
    return {answer: {status, headers, body: chunks.body}, end: chunks.end};
  }
  const end = start + Number(headers["content-length"] ?? 0);
  if (received.length < end) return undefined;
  return {answer: {status, headers, body: received.toString("utf8", start, end)}, end};
}

/** @throws Error if the bytes are not in chunked encoding */
function parseChunks(received: Buffer, start: number): {body: string; end: number} | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = received.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = received.toString("latin1", at, lineEnd);
    if (!/^[0-9a-f]{1,8}$/i.test(size))
      throw new Error(`not a chunk size: ${JSON.stringify(size.slice(0, 40))}`);
    const chunkStart = lineEnd + 2;
    const chunkEnd = chunkStart + Number.parseInt(size, 16);
    if (received.length < chunkEnd + 2) return undefined;
    if (received.toString("latin1", chunkEnd, chunkEnd + 2) !== "\r\n")
      throw new Error("a chunk does not end");
    if (chunkEnd === chunkStart) return {body: Buffer.concat(chunks).toString(), end: chunkEnd + 2};
    chunks.push(received.subarray(chunkStart, chunkEnd));
    at = chunkEnd + 2;
  }
}
