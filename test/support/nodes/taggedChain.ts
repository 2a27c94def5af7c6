/** A layer-2 node: a chain whose finalized block and hashes the test sets. */
import {hashOfBlock} from "../chains/serviceLines.ts";
import {Upstream} from "../http/upstream.ts";

export class TaggedChain {
  readonly upstream = new Upstream();
  /** undefined: it refuses the tag. */
  finalized: number | undefined;
  /** As geth does until its consensus client names a block. */
  refusal = {code: -32000, message: "finalized block not found"};
  hashOf = hashOfBlock;

  constructor() {
    this.upstream.handler = ({call}, response) => {
      const [selector] = call.params as [string];
      const number = selector === "finalized" ? this.finalized : Number(selector);
      response.writeHead(200, {"content-type": "application/json"});
      response.end(JSON.stringify({jsonrpc: "2.0", id: call.id, ...this.nameBlock(number)}));
    };
  }

  private nameBlock(number: number | undefined): object {
    if (number === undefined) return {error: this.refusal};
    const [hash, parentHash] = [this.hashOf(number), this.hashOf(number - 1)];
    return {result: {number: `0x${number.toString(16)}`, hash, parentHash}};
  }
}
