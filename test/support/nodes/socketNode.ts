/** A node that takes WebSockets and sends what a test tells it to. */
import {createHash} from "node:crypto";
import {createServer, type IncomingMessage, type Server} from "node:http";
import type {AddressInfo, Socket} from "node:net";
import "../processes/testProcess.ts";
import {once} from "../wait.ts";

/** RFC 6455, section 1.3. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 0x81;

export class SocketNode {
  /** Sent to whoever connects. */
  greeting: string | undefined;
  /** Heads of the requests that opened a WebSocket. */
  readonly heads: IncomingMessage[] = [];
  private readonly server: Server;
  private readonly open = new Set<Socket>();

  private constructor(server: Server) {
    this.server = server;
    server.on("connection", (socket: Socket) => {
      this.open.add(socket);
      socket.on("close", () => this.open.delete(socket));
      socket.on("error", () => {});
    });
    server.on("upgrade", (head, socket) => {
      this.heads.push(head);
      const key = `${head.headers["sec-websocket-key"]}${ACCEPT_SUFFIX}`;
      const accept = createHash("sha1").update(key).digest("base64");
      const lines = ["HTTP/1.1 101 X", "Upgrade: websocket", "Connection: Upgrade"];
      socket.write(`${[...lines, `Sec-WebSocket-Accept: ${accept}`].join("\r\n")}\r\n\r\n`);
      socket.resume();
      // The sockets of an HTTP server stay half open.
      socket.on("end", () => socket.end());
      if (this.greeting !== undefined) socket.write(encodeFrame(this.greeting));
    });
  }

  static async start(): Promise<SocketNode> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SocketNode(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}/secret-path`;
  }

  get socketCount(): number {
    return this.open.size;
  }

  /** Sends a message to everyone. */
  send(text: string): void {
    for (const socket of this.open) socket.write(encodeFrame(text));
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.open) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, "close");
  }
}

function encodeFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(10);
  head[0] = TEXT;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(bytes.length), 2);
  // A length below 2^16 must be written in fewer bytes.
  if (bytes.length >= 2 ** 16) return Buffer.concat([head, bytes]);
  if (bytes.length < 126) return Buffer.concat([Buffer.of(TEXT, bytes.length), bytes]);
  head[1] = 126;
  head.writeUInt16BE(bytes.length, 2);
  return Buffer.concat([head.subarray(0, 4), bytes]);
}
