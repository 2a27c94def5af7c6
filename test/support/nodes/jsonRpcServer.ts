/** The HTTP side of a test's node: JSON-RPC calls and batches, each call answered by the node. */
import {createServer, type Server} from "node:http";
import type {AddressInfo} from "node:net";
import "../processes/testProcess.ts";
import {once} from "../wait.ts";

export interface JsonRpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export class JsonRpcServer {
  private readonly server: Server;

  constructor(answer: (call: JsonRpcCall) => object | Promise<object>) {
    this.server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      request.on("end", async () => {
        const calls: JsonRpcCall | JsonRpcCall[] = JSON.parse(body);
        const answers = await (Array.isArray(calls) ? Promise.all(calls.map(answer)) : answer(calls));
        response.setHeader("content-type", "application/json").end(JSON.stringify(answers));
      });
    });
  }

  /** Listens on a free port. */
  async start(): Promise<void> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }
}
