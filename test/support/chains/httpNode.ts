/** A node as the readers of blocks see it, over fetch, without retries. */
import {type Node, type NodeCall, NodeFailure, NodeRefusal} from "../../../nodes/rpc/node.ts";

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: {readonly code: number; readonly message: string};
}

/** Calls in one batch. */
const BATCH = 500;

export class HttpNode implements Node {
  readonly name: string;
  /** Calls sent so far, by method. */
  readonly calls = new Map<string, number>();

  constructor(url: string) {
    this.name = url;
  }

  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    return (await this.requestAll([{method, params}]))[0];
  }

  async requestAll(calls: readonly NodeCall[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (let at = 0; at < calls.length; at += BATCH)
      results.push(...(await this.send(calls.slice(at, at + BATCH))));
    return results;
  }

  private async send(calls: readonly NodeCall[]): Promise<unknown[]> {
    for (const {method} of calls) this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    const response = await fetch(this.name, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify(calls.map((call, id) => ({jsonrpc: "2.0", id, ...call}))),
    });
    const replies = (await response.json()) as Reply[];
    if (replies.length !== calls.length) throw new NodeFailure(`${replies.length} replies`);
    return replies
      .toSorted((a, b) => a.id - b.id)
      .map(({result, error}) => {
        if (error !== undefined) throw new NodeRefusal(error.message, error.code);
        return result;
      });
  }
}
