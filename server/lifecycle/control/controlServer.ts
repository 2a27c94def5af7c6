/**
 * Executes the operator's commands while this process has the store open.
 *
 * HTTP on a free port of 127.0.0.1. A request without the token of control.json gets 401. A command may take long:
 * until its answer is ready, a space is sent every second, so that the sender sees progress.
 */
import {randomBytes, timingSafeEqual} from "node:crypto";
import {once} from "node:events";
import {createServer, type IncomingMessage, type Server, type ServerResponse} from "node:http";
import type {AddressInfo, Socket} from "node:net";
import {
  answerFields,
  type BlockCommand,
  COMMAND_KINDS,
  type CommandedEngine,
  type ControlAnswer,
  executeCommand,
  MAX_COMMAND_BYTES,
  parseBlock,
} from "./blockCommand.ts";
import {removeControlFile, writeControlFile} from "./controlFile.ts";

const HOST = "127.0.0.1";
/** This limit and the next two protect against other programs that connect. */
const RECEIVE_MS = 5_000;
/** Most connections without a command. Beyond it the oldest is closed, so that idle ones cannot block commands. */
const MAX_IDLE = 32;
const MAX_HEADER_BYTES = 4096;
const TOKEN_BYTES = 32;
/** Between two spaces. Much less than SILENCE_MS of controlClient.ts. */
const BEAT_MS = 1_000;

const HEADERS = {"Content-Type": "application/json", Connection: "close"};

export type CommandListener = (command: BlockCommand, answer: ControlAnswer) => void;

export class ControlServer {
  private readonly server: Server;
  private readonly token = randomBytes(TOKEN_BYTES).toString("hex");
  /** Connections that have sent no command yet, the oldest first. */
  private readonly idle = new Set<Socket>();
  private readonly underWay = new Set<Promise<void>>();

  private constructor(
    private readonly directory: string,
    private readonly engine: CommandedEngine,
    private readonly onCommand: CommandListener,
    private readonly beatMs: number,
  ) {
    const bounds = {
      requestTimeout: RECEIVE_MS,
      headersTimeout: RECEIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: RECEIVE_MS,
    };
    this.server = createServer(bounds, (request, response) => this.take(request, response));
    this.server.on("connection", socket => this.admit(socket));
  }

  /** @param engine - open on `directory`. Close it after `stop` and before `close`. @throws Error */
  static async start(
    directory: string,
    engine: CommandedEngine,
    onCommand: CommandListener,
    beatMs = BEAT_MS,
  ): Promise<ControlServer> {
    const control = new ControlServer(directory, engine, onCommand, beatMs);
    control.server.listen(0, HOST);
    await once(control.server, "listening");
    try {
      const {port} = control.server.address() as AddressInfo;
      await writeControlFile(directory, {pid: process.pid, port, token: control.token});
    } catch (error) {
      control.server.close();
      throw error;
    }
    return control;
  }

  /** Accepts no more commands. Running commands complete while the engine is open. */
  async stop(): Promise<void> {
    this.server.close();
    await removeControlFile(this.directory);
  }

  /** Waits for the last answers and ends the connections. Call it after `stop`. */
  async close(): Promise<void> {
    await Promise.all(this.underWay);
    this.server.closeAllConnections();
  }

  private admit(socket: Socket): void {
    this.idle.add(socket);
    socket.once("close", () => this.idle.delete(socket));
    const [oldest] = this.idle;
    if (this.idle.size > MAX_IDLE) oldest?.destroy();
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const answering = this.answer(request, response)
      .catch((error: Error) => {
        // The connection broke, which the sender of the command sees.
        response.destroy(error);
      })
      .finally(() => this.underWay.delete(answering));
    this.underWay.add(answering);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.isAllowed(request.headers.authorization)) return send(response, 401);
    const kind = COMMAND_KINDS.find(kind => request.url === `/${kind}`);
    if (request.method !== "POST" || kind === undefined) return send(response, 404);
    const text = await readBody(request);
    const to = text === undefined ? undefined : parseBlock(text);
    if (to === undefined) return send(response, 400);
    this.idle.delete(request.socket);
    response.writeHead(200, HEADERS);
    const beat = setInterval(() => response.write(" "), this.beatMs);
    response.write(" ");
    const command = {kind, to};
    const answer = await executeCommand(this.engine, command).finally(() => clearInterval(beat));
    this.onCommand(command, answer);
    return end(response, JSON.stringify(answerFields(answer)));
  }

  private isAllowed(authorization: string | undefined): boolean {
    const given = Buffer.from(authorization ?? "");
    const expected = Buffer.from(`Bearer ${this.token}`);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

/** @returns undefined if the body is larger than any command */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_COMMAND_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, status: number): Promise<void> {
  return end(response.writeHead(status, HEADERS), "");
}

/** Resolves when the operating system has taken the text. */
function end(response: ServerResponse, text: string): Promise<void> {
  return new Promise(resolve => {
    if (response.closed) return resolve(); // the client has gone
    response.once("close", resolve);
    response.end(text);
  });
}
