/** Files of published tests, and what became of their cases. */
import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {BlockExecutor, type BlockExecutorOptions} from "../../../evm/execution/blockExecutor.ts";
import {type BlockHead, decodeBlockHead} from "../../../evm/execution/blockHead.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {type JsonObject, parseBytes, parseObject} from "../../../evm/execution/gethJson.ts";
import type {BlockTrie} from "../../../storage/block/blockTrie.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import {runStateTest, type Verdict} from "./stateTest.ts";
import {configOfNetwork, isObject} from "./testForks.ts";

/** What is checked by consensus, which proofd takes from a finalized chain: names of exceptions. */
const OF_CONSENSUS =
  /Difficulty|Uncle|uncle|ExtraData|EXTRA_DATA|Timestamp|TIMESTAMP|TooFarInTheFuture|DAO|PoW|Seal|Nonce.*Header/;

async function runBlockchainTest(test: JsonObject): Promise<Verdict> {
  const config = configOfNetwork(String(test.network), parseObject(test.config ?? {}, "config"));
  if (config === undefined) return {skipped: `network ${test.network}`};
  const chain = await TestChain.start(test, config);
  for (const [position, block] of (test.blocks as JsonObject[]).entries()) {
    const error = await chain.add(parseBytes(block.rlp, "rlp"));
    const expected = exceptionOf(block);
    if (expected === undefined && error !== undefined) return {failure: `block ${position}: ${error}`};
    if (expected !== undefined && error === undefined)
      return OF_CONSENSUS.test(expected)
        ? {skipped: "only consensus refuses it"}
        : {failure: `block ${position}: expected ${expected}, got no error`};
  }
  return undefined;
}

function exceptionOf(block: JsonObject): string | undefined {
  const found = Object.entries(block).find(([name]) => name.startsWith("expectException"));
  return found === undefined ? undefined : String(found[1]);
}

class TestChain {
  private readonly store = new MemoryTries();
  private readonly tries = new Map<string, BlockTrie | undefined>();
  private readonly heads = new Map<string, BlockHead>();

  private constructor(
    private readonly genesis: Genesis,
    /** The block that the executor is at. */
    private tip: BlockHead,
  ) {}

  private executor: BlockExecutor | undefined;

  static async start(test: JsonObject, config: JsonObject): Promise<TestChain> {
    const head = decodeBlockHead(parseBytes(test.genesisRLP, "genesisRLP"), "the genesis block");
    const file = JSON.stringify({config, alloc: test.pre, gasLimit: 0, difficulty: 0});
    const chain = new TestChain(parseGenesis(file), head);
    const {executor, difference} = await BlockExecutor.start(chain.options(), chain.genesis, head);
    chain.executor = executor;
    chain.heads.set(toHex(head.hash), head);
    chain.tries.set(toHex(head.hash), difference.trie);
    return chain;
  }

  /** @returns why the block was refused; undefined: it was not */
  async add(rlp: Uint8Array): Promise<string | undefined> {
    try {
      const head = decodeBlockHead(rlp, "the block");
      const parent = this.heads.get(toHex(head.parentHash));
      if (parent === undefined) return `its parent ${toHex(head.parentHash)} is not known`;
      if (this.executor === undefined || parent !== this.tip)
        this.executor = BlockExecutor.resume(this.options(), parent, this.tries.get(toHex(parent.hash)));
      this.tip = parent;
      const {trie} = await this.executor.execute(rlp);
      this.heads.set(toHex(head.hash), head);
      this.tries.set(toHex(head.hash), trie);
      this.tip = head;
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  private options(): BlockExecutorOptions {
    return {
      forks: this.genesis.forks,
      store: this.store,
      blockHash: number => this.ancestorAt(number)?.hash,
    };
  }

  private ancestorAt(number: number): BlockHead | undefined {
    let head: BlockHead | undefined = this.tip;
    while (head !== undefined && head.number > number) head = this.heads.get(toHex(head.parentHash));
    return head;
  }
}

export function findTests(folder: string): string[] {
  const files = readdirSync(folder, {recursive: true, encoding: "utf8"});
  return files.filter(name => name.endsWith(".json")).sort();
}

export class Tally {
  passed = 0;
  readonly failures: string[] = [];
  /** How many cases, by reason. */
  readonly skipped = new Map<string, number>();

  async run(folder: string, file: string): Promise<void> {
    try {
      const tests: unknown = JSON.parse(readFileSync(join(folder, file), "utf8"));
      for (const [title, test] of isObject(tests) ? Object.entries(tests) : [])
        await this.runTest(`${file} ${title}`, test);
    } catch (error) {
      this.failures.push(`${file}: it cannot be read: ${(error as Error).stack}`);
    }
  }

  private async runTest(name: string, test: unknown): Promise<void> {
    if (isObject(test) && "post" in test && "transaction" in test)
      for await (const one of runStateTest(test)) this.add(`${name} ${one.name}`, one.verdict);
    else if (isObject(test) && "blocks" in test) this.add(name, await runBlockchainTest(test));
    else this.add(name, {skipped: "no test of a state or a chain"});
  }

  private add(name: string, verdict: Verdict): void {
    if (verdict === undefined) this.passed++;
    else if ("failure" in verdict) this.failures.push(`${name}: ${verdict.failure}`);
    else this.skipped.set(verdict.skipped, (this.skipped.get(verdict.skipped) ?? 0) + 1);
  }
}
