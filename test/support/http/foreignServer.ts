/** A JSON-RPC server that is not proofd and answers as a test says. A load generator may meet such a server. */
import type {ServerResponse} from "node:http";
import {Upstream, type UpstreamRequest} from "./upstream.ts";

export type ForeignCall = UpstreamRequest["call"];

/** @param body - of a request that asks for proofs or estimates, parsed */
type AnswerLoad = (response: ServerResponse, body: ForeignCall | readonly ForeignCall[]) => void;

export class ForeignServer extends Upstream {
  /** Calls that ask what the server is get -32601, unless `results` has a result for the method. */
  static async start(
    answer: AnswerLoad,
    results: Readonly<Record<string, unknown>> = {},
  ): Promise<ForeignServer> {
    const server = new ForeignServer();
    server.handler = ({call}, response) => {
      const {id, method} = [call].flat()[0] as ForeignCall;
      if (/_getProof$|_estimateGas$/.test(method)) answer(response, call);
      else if (method in results) sendJson(response, {jsonrpc: "2.0", id, result: results[method]});
      else sendJson(response, {jsonrpc: "2.0", id, error: {code: -32601, message: "no such method"}});
    };
    await server.start();
    return server;
  }
}

export function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
}

export function sendResults(response: ServerResponse, body: ForeignCall | readonly ForeignCall[]): void {
  const answer = ({id}: ForeignCall) => ({jsonrpc: "2.0", id, result: {}});
  sendJson(response, Array.isArray(body) ? body.map(answer) : answer(body as ForeignCall));
}
