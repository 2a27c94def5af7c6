/** A JSON-RPC node of the demo chain, by debug_getRawBlock or by JSON alone. A test may change its answers. */
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {type Block, createBlock, createBlockFromRLP} from "@ethereumjs/block";
import {DEMO_FOLDER} from "../../../demo/artefact.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {readRlpBlocks} from "../../../evm/execution/rlpBlocks.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {createFullRules} from "../evm/fullRules.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import {describeBlock} from "./jsonBlocks.ts";
import {type JsonRpcCall, JsonRpcServer} from "./jsonRpcServer.ts";

/** A block as eth_getBlockByNumber gives it: a copy, which may be changed. */
// biome-ignore lint/suspicious/noExplicitAny: a test reaches into any field
export type JsonBlock = any;

export const DEMO_GENESIS = join(DEMO_FOLDER, "genesis.json");
const DEMO_BLOCKS = join(DEMO_FOLDER, "chain.rlp");

export class DemoNode {
  /** From block 0 on. */
  readonly blocks: readonly Block[];
  readonly counts = new Map<string, number>();
  /** Changes a block with whole transactions before it is sent. */
  changeJson: (block: JsonBlock) => JsonBlock = block => block;
  /** Changes the hex digits of a block before they are sent. */
  changeRaw: (block: string, number: number) => string = block => block;
  /** What debug_getRawBlock gives for a block that it does not have: as geth 1.17. */
  absent: object = {result: "0x"};
  /** The last of the blocks that it does not have any more. */
  prunedTo = -1;
  private readonly hasRaw: boolean;
  private readonly server: JsonRpcServer;

  private constructor(blocks: readonly Block[], hasRaw: boolean) {
    this.blocks = blocks;
    this.hasRaw = hasRaw;
    this.server = new JsonRpcServer(call => this.answer(call));
  }

  /** @param last - the newest block that it holds; left out: the chain's last */
  static async start(mode: "raw" | "json", last?: number): Promise<DemoNode> {
    const blocks = await readDemoBlocks();
    const node = new DemoNode(last === undefined ? blocks : blocks.slice(0, last + 1), mode === "raw");
    await node.server.start();
    return node;
  }

  get url(): string {
    return this.server.url;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private answer({id, method, params: [tag, isWhole]}: JsonRpcCall): object {
    this.counts.set(method, (this.counts.get(method) ?? 0) + 1);
    const number = tag === "latest" ? this.blocks.length - 1 : Number(tag);
    const block = this.blocks[number];
    switch (method) {
      case "eth_chainId":
        return {jsonrpc: "2.0", id, result: `0x${this.blocks[0]?.common.chainId().toString(16)}`};
      case "eth_getBlockByNumber": {
        if (block === undefined) return {jsonrpc: "2.0", id, result: null};
        const json = JSON.parse(describe(block)) as JsonBlock;
        if (isWhole === true) return {jsonrpc: "2.0", id, result: this.changeJson(json)};
        const transactions = json.transactions.map(({hash}: {hash: string}) => hash);
        return {jsonrpc: "2.0", id, result: {...json, transactions}};
      }
      case "debug_getRawBlock":
        if (!this.hasRaw) break;
        return block === undefined || number <= this.prunedTo
          ? {jsonrpc: "2.0", id, ...this.absent}
          : {jsonrpc: "2.0", id, result: this.changeRaw(toHex(block.serialize()), number)};
    }
    return {jsonrpc: "2.0", id, error: {code: -32601, message: `the method ${method} does not exist`}};
  }
}

/** As JSON. Senders are recovered from signatures, which takes long. */
const texts = new WeakMap<Block, string>();

function describe(block: Block): string {
  const text = texts.get(block) ?? JSON.stringify(describeBlock(block));
  texts.set(block, text);
  return text;
}

let demoBlocks: Promise<readonly Block[]> | undefined;

/** Nobody changes them: they are read once. */
export function readDemoBlocks(): Promise<readonly Block[]> {
  demoBlocks ??= parseDemoBlocks();
  return demoBlocks;
}

async function parseDemoBlocks(): Promise<Block[]> {
  const genesis = parseGenesis(readFileSync(DEMO_GENESIS, "utf8"));
  const common = createFullRules(genesis.forks);
  common.setHardfork(genesis.forks.forkAt({number: 1, timestamp: genesis.timestamp, difficulty: 0n}));
  const {head} = await makeGenesisBlock(genesis, new MemoryTries());
  const {timestamp, gasLimit, extraData, baseFeePerGas = 0n} = genesis;
  const header = {number: 0, stateRoot: head.stateRoot, timestamp, gasLimit, extraData, baseFeePerGas};
  const blocks = [createBlock({header, withdrawals: []}, {common})];
  const file = (async function* () {
    yield readFileSync(DEMO_BLOCKS);
  })();
  for await (const {bytes} of readRlpBlocks(file, new AbortController().signal))
    blocks.push(createBlockFromRLP(bytes, {common}));
  return blocks;
}
