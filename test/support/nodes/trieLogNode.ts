/** A node with trie logs: JSON-RPC over HTTP, batches too. A test may change what it answers. */
import {once} from "node:events";
import {createServer, type Server} from "node:http";
import type {AddressInfo} from "node:net";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {encodeHeader} from "../../../sync/node/headerRlp.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import {type LoggedBlock, logLines} from "./trieLogLines.ts";
import "../processes/testProcess.ts";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Header = Readonly<Record<string, string>>;

export interface LogElement {
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly trieLog: string;
}

export class TrieLogNode {
  readonly headers: readonly Header[];
  readonly blocks: readonly LoggedBlock[];
  /** Ranges that were asked for. */
  readonly ranges: (readonly [from: number, to: number])[] = [];
  /** Besu leaves out the last number of a range. */
  isOpenEnded = false;
  hasPlugin = true;
  /** Changes an answer before it is sent. */
  changeLogs: (logs: LogElement[]) => unknown = logs => logs;
  changeHeader: (header: Header) => unknown = header => header;
  private readonly server: Server;

  private constructor(headers: readonly Header[], blocks: readonly LoggedBlock[]) {
    this.headers = headers;
    this.blocks = blocks;
    this.server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      request.on("end", () => {
        const calls: Call | Call[] = JSON.parse(body);
        const answer = Array.isArray(calls) ? calls.map(call => this.answer(call)) : this.answer(calls);
        response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
      });
    });
  }

  /** @param lines - their hashes are replaced by those of headers. The lines of the node's chain are `lines` with them */
  static async start(
    lines: readonly DifferenceLine[],
  ): Promise<{node: TrieLogNode; lines: DifferenceLine[]}> {
    const headers: Header[] = [];
    for (const {number} of lines) headers.push(headerOf(number, headers.at(-1)?.hash));
    const hashed = lines.map((line, i) => {
      const {hash, parentHash} = headers[i] as {hash: string; parentHash: string};
      return {...line, hash, parentHash};
    });
    const node = new TrieLogNode(headers, await logLines(hashed));
    node.server.listen(0, "127.0.0.1");
    await once(node.server, "listening");
    return {node, lines: hashed};
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  private answer({id, method, params}: Call): object {
    if (method === "eth_getBlockByNumber") {
      const header = this.headers[Number(params[0])];
      return {jsonrpc: "2.0", id, result: header === undefined ? null : this.changeHeader(header)};
    }
    if (method !== "shomei_getTrieLogsByRange" || !this.hasPlugin)
      return {jsonrpc: "2.0", id, error: {code: -32601, message: "Method not found"}};
    const [from, to] = params as [number, number];
    this.ranges.push([from, to]);
    const logs = this.blocks.slice(from, this.isOpenEnded ? to : to + 1).map(({number, hash, trieLog}) => ({
      blockHash: toHex(hash),
      blockNumber: number,
      trieLog: toHex(trieLog),
    }));
    return {jsonrpc: "2.0", id, result: this.changeLogs(logs)};
  }
}

function headerOf(number: string, parentHash = `0x${"00".repeat(32)}`): Header {
  const word = `0x${"00".repeat(32)}`;
  const fields = {
    number,
    parentHash,
    sha3Uncles: word,
    miner: `0x${"0c".repeat(20)}`,
    stateRoot: word,
    transactionsRoot: word,
    receiptsRoot: word,
    logsBloom: `0x${"00".repeat(256)}`,
    difficulty: "0x0",
    gasLimit: "0x1c9c380",
    gasUsed: "0x0",
    timestamp: `0x${(1_700_000_000 + Number(number)).toString(16)}`,
    extraData: "0x",
    mixHash: word,
    nonce: "0x0000000000000000",
    baseFeePerGas: "0x7",
  };
  return {...fields, hash: toHex(keccak256(encodeHeader(fields, `block ${number}`)))};
}
