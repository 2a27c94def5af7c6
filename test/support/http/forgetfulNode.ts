/** A node in front of another one, that has lost the states of old blocks, or refuses a block. */
import {ForwardingProxy} from "./forwardingProxy.ts";
import type {UpstreamRequest} from "./upstream.ts";

type Call = UpstreamRequest["call"];
type Answer = {readonly id: number};

export class ForgetfulNode {
  /** Below it, no state is left. */
  firstState = 0;
  /** It is refused whole. */
  refused = -1;

  private constructor(private readonly proxy: ForwardingProxy) {
    proxy.change = async ({call}, forward) => {
      const answer = await forward();
      const calls: readonly Call[] = Array.isArray(call) ? call : [call];
      const lost = calls.filter(one => this.isLost(one));
      if (lost.length === 0) return answer;
      const answers: Answer[] = [JSON.parse(answer.body.toString())].flat();
      const changed = answers.map(one =>
        lost.some(({id}) => id === one.id)
          ? {jsonrpc: "2.0", id: one.id, error: {code: -32000, message: "missing trie node"}}
          : one,
      );
      return {...answer, body: Buffer.from(JSON.stringify(Array.isArray(call) ? changed : changed[0]))};
    };
  }

  static async before(url: string): Promise<ForgetfulNode> {
    return new ForgetfulNode(await ForwardingProxy.to(url));
  }

  get url(): string {
    return this.proxy.url.origin;
  }

  stop(): Promise<void> {
    return this.proxy.stop();
  }

  private isLost({method, params}: Call): boolean {
    if (method === "eth_getBlockByNumber") return Number(params[0]) === this.refused;
    return method === "eth_getProof" && Number(params[2]) < this.firstState;
  }
}
