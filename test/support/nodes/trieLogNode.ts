/** A node with trie logs: JSON-RPC over HTTP, batches too. A test may change what it answers. */
import {toHex} from "../../../storage/hex.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import {type Header, headLines} from "../chains/headedLines.ts";
import type {LoggedBlock} from "../chains/loggedBlock.ts";
import {type JsonRpcCall, JsonRpcServer} from "./jsonRpcServer.ts";
import {logLines} from "./trieLogLines.ts";

interface TrieLogChain {
  readonly headers: readonly Header[];
  readonly blocks: readonly LoggedBlock[];
}

export interface LogElement {
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly trieLog: string;
}

export class TrieLogNode {
  private chain: TrieLogChain;
  readonly ranges: (readonly [from: number, to: number])[] = [];
  /** Besu leaves out the last number of a range. */
  isOpenEnded = false;
  hasPlugin = true;
  /** undefined: it does not know eth_chainId. */
  chainId: bigint | undefined;
  /** By the tag. */
  finalized = 0;
  /** Changes an answer before it is sent. */
  changeLogs: (logs: LogElement[]) => unknown = logs => logs;
  changeHeader: (header: Header) => unknown = header => header;
  private readonly server: JsonRpcServer;

  private constructor(chain: TrieLogChain) {
    this.chain = chain;
    this.server = new JsonRpcServer(call => this.answer(call));
  }

  /** @param lines - their hashes are replaced by those of headers. The lines of the node's chain are `lines` with them */
  static async start(
    lines: readonly DifferenceLine[],
  ): Promise<{node: TrieLogNode; lines: DifferenceLine[]}> {
    const {chain, hashed} = await makeChain(lines);
    const node = new TrieLogNode(chain);
    await node.server.start();
    return {node, lines: hashed};
  }

  /** The node has another chain from now on. @returns as `start` */
  async load(lines: readonly DifferenceLine[]): Promise<DifferenceLine[]> {
    const {chain, hashed} = await makeChain(lines);
    this.chain = chain;
    return hashed;
  }

  get headers(): readonly Header[] {
    return this.chain.headers;
  }

  get url(): URL {
    return new URL(this.server.url);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private answer({id, method, params}: JsonRpcCall): object {
    if (method === "eth_getBlockByNumber") {
      const [tag] = params;
      const header = this.chain.headers.at(
        tag === "latest" ? -1 : tag === "finalized" ? this.finalized : Number(tag),
      );
      return {jsonrpc: "2.0", id, result: header === undefined ? null : this.changeHeader(header)};
    }
    if (method === "eth_chainId" && this.chainId !== undefined)
      return {jsonrpc: "2.0", id, result: `0x${this.chainId.toString(16)}`};
    if (method !== "shomei_getTrieLogsByRange" || !this.hasPlugin)
      return {jsonrpc: "2.0", id, error: {code: -32601, message: "Method not found"}};
    const [from, to] = params as [number, number];
    this.ranges.push([from, to]);
    const logs = this.chain.blocks
      .slice(from, this.isOpenEnded ? to : to + 1)
      .map(({number, hash, trieLog}) => ({
        blockHash: toHex(hash),
        blockNumber: number,
        trieLog: toHex(trieLog),
      }));
    return {jsonrpc: "2.0", id, result: this.changeLogs(logs)};
  }
}

/** @param lines - block 0 first */
async function makeChain(
  lines: readonly DifferenceLine[],
): Promise<{chain: TrieLogChain; hashed: DifferenceLine[]}> {
  const {headers, lines: hashed} = await headLines(lines);
  return {chain: {headers, blocks: await logLines(hashed)}, hashed};
}
