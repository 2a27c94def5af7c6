/** A JSON-RPC server that is not proofd and answers as a test says. A load generator may meet such a server. */
import {createServer, type Server, type ServerResponse} from "node:http";
import type {AddressInfo} from "node:net";
import "../processes/testProcess.ts";
import {once} from "../wait.ts";

export interface ForeignCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** @param body - of a request that asks for proofs or estimates, parsed */
type AnswerLoad = (response: ServerResponse, body: ForeignCall | readonly ForeignCall[]) => void;

export class ForeignServer {
  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Calls that ask what the server is get -32601, unless `results` has a result for the method. */
  static async start(
    answer: AnswerLoad,
    results: Readonly<Record<string, unknown>> = {},
  ): Promise<ForeignServer> {
    const server = createServer(async (request, response) => {
      if (request.method === "GET") {
        response.writeHead(404).end();
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const {id, method} = [body].flat()[0] as ForeignCall;
      if (/_getProof$|_estimateGas$/.test(method)) answer(response, body);
      else if (method in results) sendJson(response, {jsonrpc: "2.0", id, result: results[method]});
      else sendJson(response, {jsonrpc: "2.0", id, error: {code: -32601, message: "no such method"}});
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ForeignServer(server);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

export function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
}

export function sendResults(response: ServerResponse, body: ForeignCall | readonly ForeignCall[]): void {
  const answer = ({id}: ForeignCall) => ({jsonrpc: "2.0", id, result: {}});
  sendJson(response, Array.isArray(body) ? body.map(answer) : answer(body as ForeignCall));
}
