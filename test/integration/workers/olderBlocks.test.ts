/** Blocks of ethash, made by @ethereumjs: an uncle's rewards, and a chain that comes to berlin, where another EVM executes it. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {type Block, createBlock, createBlockHeader} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {RLP} from "@ethereumjs/rlp";
import {createLegacyTx} from "@ethereumjs/tx";
import {createAddressFromString, type PrefixedHexString, privateToAddress} from "@ethereumjs/util";
import {createVM, runBlock} from "@ethereumjs/vm";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {createChainRules} from "../../../evm/execution/chainRules.ts";
import {ExecutionState} from "../../../evm/execution/executionState.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import {type Genesis, parseGenesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryNodes} from "../../support/chains/memoryNodes.ts";
import {codeOf} from "../../support/estimates/assembler.ts";

const KEY = new Uint8Array(32).fill(1);
const MINER: PrefixedHexString = `0x${"0c".repeat(20)}`;
const UNCLE: PrefixedHexString = `0x${"0d".repeat(20)}`;
/** Writes DIFFICULTY, and SLOAD of it, whose price berlin changed. */
const CONTRACT: PrefixedHexString = `0x${"cc".repeat(20)}`;
const CODE = `0x44${codeOf("PUSH1 0 SSTORE PUSH1 0 SLOAD PUSH1 1 SSTORE STOP").slice(2)}`;
const ETHER = 10n ** 18n;
const BERLIN = 3;

const genesis: Genesis = parseGenesis(
  JSON.stringify({
    config: {...configOfFork("berlin"), berlinBlock: BERLIN, chainId: 5},
    ...{difficulty: "0x20000", gasLimit: "0x1c9c380", timestamp: "0x1"},
    alloc: {[toHex(privateToAddress(KEY))]: {balance: `${ETHER}`}, [CONTRACT]: {balance: "0", code: CODE}},
  }),
);

/** The next block, as the library makes it on its own state, with a call of the contract and an uncle. */
class EthashChain {
  private readonly common: Common = createChainRules(genesis.forks);
  private readonly nodes = new MemoryNodes();
  private readonly state = new ExecutionState(this.nodes);
  private parent: Uint8Array = new Uint8Array(32);
  private number = 0n;

  static async start(): Promise<EthashChain> {
    const chain = new EthashChain();
    const {head} = await makeGenesisBlock(genesis, chain.nodes);
    await chain.state.setStateRoot(head.stateRoot);
    chain.parent = head.hash;
    return chain;
  }

  async next(): Promise<Block> {
    const number = ++this.number;
    const {common, state: stateManager} = this;
    common.setHardfork(number < BERLIN ? "istanbul" : "berlin");
    const call = {nonce: number - 1n, gasPrice: 10n, gasLimit: 100_000n, to: CONTRACT};
    const transactions = [createLegacyTx(call, {common}).sign(KEY)];
    const uncle = createBlockHeader({number: number - 1n, coinbase: UNCLE, difficulty: 3n}, {common});
    const uncleHeaders = number > 1n ? [uncle] : [];
    const make = (fields: object): Block =>
      createBlock(
        {
          header: {
            ...{number, parentHash: this.parent, timestamp: number + 1n, gasLimit: 30_000_000n},
            ...{difficulty: 131_072n + number, coinbase: MINER, mixHash: keccak256(KEY), ...fields},
          },
          ...{transactions, uncleHeaders},
        },
        {common, skipConsensusFormatValidation: true},
      );
    const uncleHash = keccak256(RLP.encode(uncleHeaders.map(one => one.raw())));
    const roots = {transactionsTrie: await make({}).genTxTrie(), uncleHash};
    const vm = await createVM({common, stateManager});
    const options = {generate: true, skipHeaderValidation: true};
    const made = await runBlock(vm, {block: make(roots), ...options});
    const {stateRoot, receiptsRoot, gasUsed, logsBloom} = made;
    const block = make({...roots, stateRoot, receiptTrie: receiptsRoot, gasUsed, logsBloom});
    await this.state.seal();
    this.parent = block.hash();
    return block;
  }

  async balanceOf(address: PrefixedHexString): Promise<bigint> {
    return (await this.state.getAccount(createAddressFromString(address)))?.balance ?? 0n;
  }
}

test("blocks of ethash are executed before berlin and after it, and their miners are paid for uncles", async () => {
  const chain = await EthashChain.start();
  const options = {forks: genesis.forks, nodes: new MemoryNodes(), blockHash: () => undefined};
  const {executor} = await BlockExecutor.start(options, genesis);
  for (let number = 1; number <= BERLIN + 1; number++) {
    const block = await chain.next();
    const other = Buffer.from(block.serialize());
    const {stateRoot} = block.header;
    other[other.indexOf(stateRoot)] = (stateRoot[0] as number) ^ 1;
    await assert.rejects(
      executor.execute(other),
      new RegExp(
        `^ExecutionError: block ${number}: state root: expected 0x[0-9a-f]{64} as .*, got ${toHex(stateRoot)}$`,
      ),
    );
    const {header} = await executor.execute(block.serialize());
    assert.deepEqual(header.hash, block.hash());
  }
  // An uncle of the block before pays 7/8 of 2 ether to its miner, and 1/32 to who names it. The first block has none.
  assert.equal(await chain.balanceOf(UNCLE), (BigInt(BERLIN) * 2n * ETHER * 7n) / 8n);
  const fees =
    (await chain.balanceOf(MINER)) - BigInt(BERLIN + 1) * 2n * ETHER - (BigInt(BERLIN) * 2n * ETHER) / 32n;
  assert.ok(fees > 0n && fees < ETHER / 100n, `${fees}`);
});

test("a block whose uncles are not those of its header is refused with both hashes", async () => {
  const chain = await EthashChain.start();
  const options = {forks: genesis.forks, nodes: new MemoryNodes(), blockHash: () => undefined};
  const {executor} = await BlockExecutor.start(options, genesis);
  for (let number = 1; number < BERLIN; number++) await executor.execute((await chain.next()).serialize());
  const [header, transactions] = RLP.decode((await chain.next()).serialize()) as Uint8Array[];
  await assert.rejects(
    executor.execute(RLP.encode([header as Uint8Array, transactions as Uint8Array, []])),
    /block 3: uncle hash: expected 0x[0-9a-f]{64} as in its header, got 0x1dcc4de8.*: .* it is a block of berlin$/,
  );
});
