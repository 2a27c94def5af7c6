/**
 * A chain that anvil makes of signed transactions, and the same blocks executed here.
 *
 *   transactions  -->  anvil  --eth_getBlockByNumber-->  @ethereumjs/vm on our state  -->  block differences to compare with
 *
 * Gas, receipts and logs are compared with the header, state roots are not: anvil keeps zeroed slots as leaves of its trie. Its
 * block 0 has accounts of its own, so execution begins with what anvil holds then.
 */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {gunzipSync} from "node:zlib";
import {createBlockFromRPC, type JSONRPCBlock} from "@ethereumjs/block";
import {createVM, runBlock} from "@ethereumjs/vm";
import {decodeBlockHead} from "../../../evm/execution/blockHead.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {createFullRules} from "../evm/fullRules.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import {LibraryState} from "../evm/libraryState.ts";
import {Anvil} from "../processes/anvil.ts";
import {PEOPLE, People, type Sent} from "./people.ts";

const CHAIN_ID = 424_243n;
const MINER = "0x00000000000000000000000000000000000c0ffe";

type Allocation = Readonly<Record<string, object>>;

export class AnvilChain {
  readonly anvil: Anvil;
  readonly block0: BlockDifference;
  private readonly state: LibraryState;
  private readonly genesis: Genesis;
  private readonly hashes: Uint8Array[];
  private readonly people = new People(CHAIN_ID);
  private number = 0;

  private constructor(anvil: Anvil, block0: BlockDifference, state: LibraryState, genesis: Genesis) {
    this.anvil = anvil;
    this.block0 = block0;
    this.state = state;
    this.genesis = genesis;
    this.hashes = [block0.header.hash];
  }

  /** @param folder - for the genesis file. @returns a text that says why there is no anvil */
  static async start(folder: string, fork: string, alloc: Allocation = {}): Promise<AnvilChain | string> {
    const rich = Object.fromEntries(
      PEOPLE.map(address => [address, {balance: `0x${(10n ** 21n).toString(16)}`}]),
    );
    const file = {
      config: {...configOfFork(fork), chainId: Number(CHAIN_ID)},
      ...{nonce: "0x0", timestamp: "0x67748580", extraData: "0x", gasLimit: "0x1c9c380", difficulty: "0x0"},
      ...{mixHash: `0x${"0".repeat(64)}`, coinbase: MINER, baseFeePerGas: "0x7", alloc: {...rich, ...alloc}},
    };
    const path = join(folder, "genesis.json");
    await writeFile(path, JSON.stringify(file));
    const flags = `--hardfork ${fork} --accounts 0 --no-mining --order fifo --block-base-fee-per-gas 7`;
    const anvil = await Anvil.start(["--init", path, ...flags.split(" ")]);
    if (typeof anvil === "string") return anvil;
    try {
      const dump = await anvil.request<string>("anvil_dumpState");
      const {accounts} = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), "hex")).toString());
      const genesis = parseGenesis(JSON.stringify({...file, alloc: accounts}));
      const {head, difference} = await makeGenesisBlock(genesis, new MemoryTries());
      const {hash: text} = await anvil.request<{hash: string}>("eth_getBlockByNumber", "0x0", false);
      const hash = Buffer.from(text.slice(2), "hex");
      const state = LibraryState.of(difference);
      return new AnvilChain(anvil, {...difference, header: {...head, hash, rest: undefined}}, state, genesis);
    } catch (error) {
      await anvil.stop();
      throw error;
    }
  }

  async mine(
    transactions: readonly Sent[],
  ): Promise<{executed: BlockDifference; block: JSONRPCBlock; succeeded: readonly boolean[]}> {
    const hashes: string[] = [];
    const common = createFullRules(this.genesis.forks);
    common.setHardfork(this.genesis.forks.forkAt({number: 1, timestamp: 1n << 40n, difficulty: 0n}));
    for (const sent of transactions)
      hashes.push(await this.anvil.request("eth_sendRawTransaction", this.people.sign(sent, common)));
    await this.anvil.request("evm_mine");
    const number = `0x${(++this.number).toString(16)}`;
    const block = await this.anvil.request<JSONRPCBlock>("eth_getBlockByNumber", number, true);
    if (block.transactions.length !== hashes.length)
      throw new Error(`${block.transactions.length} of ${hashes.length} transactions are in the block`);
    const executed = await this.execute(block);
    const succeeded: boolean[] = [];
    for (const hash of hashes) {
      const {status} = await this.anvil.request<{status: string}>("eth_getTransactionReceipt", hash);
      succeeded.push(status === "0x1");
    }
    return {executed, block, succeeded};
  }

  private async execute(answer: JSONRPCBlock): Promise<BlockDifference> {
    const common = createFullRules(this.genesis.forks);
    const timestamp = BigInt(answer.timestamp);
    common.setHardfork(this.genesis.forks.forkAt({number: this.number, timestamp, difficulty: 0n}));
    const block = createBlockFromRPC(answer, [], {common});
    const blockchain = {
      getBlock: async (number: number) => ({hash: () => this.hashes[number]}),
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    const evmOpts = {common, stateManager: this.state, blockchain};
    const vm = await createVM({common, stateManager: this.state, blockchain, evmOpts} as object);
    const result = await runBlock(vm, {block, generate: true, skipHeaderValidation: true});
    assert.equal(result.gasUsed, block.header.gasUsed);
    assert.equal(toHex(result.receiptsRoot), toHex(block.header.receiptTrie));
    assert.equal(toHex(result.logsBloom), toHex(block.header.logsBloom));
    this.hashes.push(block.hash());
    const accounts = this.state.listDifferences();
    this.state.seal();
    return {header: decodeBlockHead(block.serialize(), `block ${this.number}`), accounts};
  }
}
