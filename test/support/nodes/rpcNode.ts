/** The client side of a real node: JSON-RPC calls over HTTP. */
import type {RpcAnswer} from "../http/rpcAnswer.ts";

export abstract class RpcNode {
  abstract readonly url: string;
  abstract readonly name: string;

  async ask(method: string, params: readonly unknown[] = []): Promise<RpcAnswer> {
    return (await this.send({jsonrpc: "2.0", id: 1, method, params})) as RpcAnswer;
  }

  async send(body: unknown): Promise<unknown> {
    const response = await fetch(this.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify(body),
    });
    return response.json();
  }

  /** As `ask`, but throws if the answer is an error. */
  async request<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const {result, error} = await this.ask(method, params);
    if (error !== undefined) throw new Error(`${this.name}: ${method}: ${error.code} ${error.message}`);
    return result as Result;
  }
}
