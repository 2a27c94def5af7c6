/** A node with trie logs: JSON-RPC over HTTP, batches too. A test may change what it answers. */

import {toHex} from "../../../storage/hex.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import {type Header, headLines} from "../chains/headedLines.ts";
import type {LoggedBlock} from "../chains/loggedBlock.ts";
import type {MemoryState} from "../chains/memoryState.ts";
import {type JsonRpcCall, JsonRpcServer} from "./jsonRpcServer.ts";
import {logLines} from "./trieLogLines.ts";

const VALUE_METHODS = /^eth_get(Balance|TransactionCount|StorageAt)$/;

interface TrieLogChain {
  readonly headers: readonly Header[];
  readonly blocks: readonly LoggedBlock[];
  /** By block. */
  readonly states: readonly MemoryState["accounts"][];
}

export interface LogElement {
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly trieLog: string;
}

export class TrieLogNode {
  private chain: TrieLogChain;
  /** Ranges that were asked for. */
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
  /** Of balances, nonces, codes and slots. */
  changeState: (value: string) => unknown = value => value;
  /** Answers to calls that read balances, nonces and slots are sent after it. */
  stateGate: Promise<void> = Promise.resolve();
  changeHeader: (header: Header) => unknown = header => header;
  /** Of all blocks, as eth_getBlockByNumber gives them. */
  transactions: readonly object[] = [];
  private readonly server: JsonRpcServer;

  private constructor(chain: TrieLogChain) {
    this.chain = chain;
    this.server = new JsonRpcServer(async call => {
      const answer = this.answer(call);
      if (VALUE_METHODS.test(call.method)) await this.stateGate;
      return answer;
    });
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
      const {transactions} = this;
      const block = header === undefined ? null : {...(this.changeHeader(header) as object), transactions};
      return {jsonrpc: "2.0", id, result: block};
    }
    if (method === "eth_chainId" && this.chainId !== undefined)
      return {jsonrpc: "2.0", id, result: `0x${this.chainId.toString(16)}`};
    const value = readState(this.chain, method, params);
    if (value !== undefined) return {jsonrpc: "2.0", id, result: this.changeState(value)};
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
  const {headers, states, lines: hashed} = await headLines(lines);
  return {chain: {headers, blocks: await logLines(hashed), states}, hashed};
}

/** @returns undefined for a method that does not read the state */
function readState({states}: TrieLogChain, method: string, params: readonly unknown[]): string | undefined {
  const tag = params.at(-1);
  const account = states.at(tag === "latest" ? -1 : Number(tag))?.get(String(params[0]));
  if (method === "eth_getBalance") return `0x${(account?.balance ?? 0n).toString(16)}`;
  if (method === "eth_getTransactionCount") return `0x${(account?.nonce ?? 0n).toString(16)}`;
  if (method === "eth_getCode") return toHex(account?.code ?? new Uint8Array(0));
  if (method === "eth_getStorageAt") return account?.slots.get(String(params[1])) ?? `0x${"00".repeat(32)}`;
  return undefined;
}
