/** A test's node: JSON-RPC calls and batches over HTTP, each call answered by a function. */
import {Upstream, type UpstreamRequest} from "../http/upstream.ts";

export type JsonRpcCall = UpstreamRequest["call"];

export class JsonRpcServer {
  private readonly upstream = new Upstream();

  /** @param answer - gives the whole answer */
  constructor(answer: (call: JsonRpcCall) => object | Promise<object>) {
    this.upstream.handler = async ({call}, response) => {
      const answers = await (Array.isArray(call) ? Promise.all(call.map(answer)) : answer(call));
      response.setHeader("content-type", "application/json").end(JSON.stringify(answers));
    };
  }

  get url(): string {
    return this.upstream.url.origin;
  }

  start(): Promise<void> {
    return this.upstream.start();
  }

  stop(): Promise<void> {
    return this.upstream.stop();
  }
}
