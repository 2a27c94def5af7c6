/** Another node, such as a gateway's upstream: an HTTP server that answers POST as a test tells it to. */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from "node:http";
import type {AddressInfo, Socket} from "node:net";
import "../processes/testProcess.ts";
import {once} from "../wait.ts";

export interface UpstreamRequest {
  readonly head: IncomingMessage;
  readonly body: string;
  /** The parsed body; that of a batch is an array. */
  readonly call: {readonly id: number; readonly method: string; readonly params: readonly unknown[]};
}

export type UpstreamHandler = (request: UpstreamRequest, response: ServerResponse) => void;

/** Answers with `text`, in which ID is replaced by the request's id. */
export function answerText(text: string, status = 200): UpstreamHandler {
  return ({call}, response) => {
    response.writeHead(status, {"content-type": "application/json"});
    response.end(text.replaceAll("ID", String(call.id)));
  };
}

/** Answers a call, or each call of a batch. @param answer - gives the members of an answer besides its id */
export function answerCalls(answer: (method: string, params: readonly unknown[]) => object): UpstreamHandler {
  return ({call}, response) => {
    const answerOne = ({id, method, params}: UpstreamRequest["call"]): object => ({
      jsonrpc: "2.0",
      id,
      ...answer(method, params),
    });
    response.writeHead(200, {"content-type": "application/json"});
    response.end(JSON.stringify(Array.isArray(call) ? call.map(answerOne) : answerOne(call)));
  };
}

export class Upstream {
  handler: UpstreamHandler = answerText('{"jsonrpc":"2.0","id":ID,"result":"0x5208"}');
  readonly requests: UpstreamRequest[] = [];
  socketCount = 0;
  private readonly open = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}/rpc?key=path-secret`);
  }

  /** Listens on a free port; after `stop` on the same port again. */
  async start(): Promise<void> {
    this.server = createServer((head, response) => {
      let body = "";
      head.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      head.on("end", () => {
        if (head.method === "GET") return void response.writeHead(404).end();
        const request = {head, body, call: JSON.parse(body)};
        this.requests.push(request);
        this.handler(request, response);
      });
    });
    this.server.on("connection", (socket: Socket) => {
      this.socketCount++;
      this.open.add(socket);
      socket.on("close", () => this.open.delete(socket));
      socket.on("error", () => {});
    });
    this.server.listen(this.port, "127.0.0.1");
    await once(this.server, "listening");
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.server as Server;
    for (const socket of this.open) socket.destroy();
    server.close();
    await once(server, "close");
  }
}
