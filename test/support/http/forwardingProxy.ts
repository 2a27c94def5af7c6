/** A server that passes requests on to a proofd or a node, unless a test has it do something else. */
import {Upstream, type UpstreamRequest} from "./upstream.ts";

export interface ForwardedAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
  readonly retryAfter?: string | undefined;
}

/** @returns the answer to send; undefined: the connection is closed without one */
export type Change = (
  request: UpstreamRequest,
  forward: () => Promise<ForwardedAnswer>,
) => Promise<ForwardedAnswer | undefined>;

export class ForwardingProxy extends Upstream {
  change: Change = (_, forward) => forward();

  /** @param target - URL of the proofd or node. @returns a proxy that listens */
  static async to(target: string): Promise<ForwardingProxy> {
    const proxy = new ForwardingProxy();
    proxy.handler = async (request, response) => {
      const forward = async (): Promise<ForwardedAnswer> => {
        const {head, body} = request;
        const headers = {"content-type": "application/json", accept: String(head.headers.accept)};
        const answer = await fetch(target, {method: "POST", headers, body});
        const bytes = Buffer.from(await answer.arrayBuffer());
        return {status: answer.status, type: String(answer.headers.get("content-type")), body: bytes};
      };
      const answer = await proxy.change(request, forward);
      if (answer === undefined) return void response.destroy();
      const {status, type, retryAfter} = answer;
      response.writeHead(status, {"content-type": type, ...(retryAfter && {"retry-after": retryAfter})});
      response.end(answer.body);
    };
    await proxy.start();
    return proxy;
  }
}
