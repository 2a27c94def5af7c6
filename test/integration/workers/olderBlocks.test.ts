/** Blocks from before the merge, made by @ethereumjs: of ethash, with uncles, up to berlin, and of clique. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {
  type Block,
  type BlockHeader,
  cliqueSigner,
  createBlock,
  createBlockHeader,
  createSealedCliqueBlock,
} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {RLP} from "@ethereumjs/rlp";
import {createLegacyTx} from "@ethereumjs/tx";
import {createAddressFromString, type PrefixedHexString, privateToAddress} from "@ethereumjs/util";
import {createVM, runBlock} from "@ethereumjs/vm";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {createFullRules} from "../../support/evm/fullRules.ts";
import {parseGenesis} from "../../support/evm/genesisText.ts";
import {LibraryState} from "../../support/evm/libraryState.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {importHere} from "../../support/stores/importedStore.ts";

const KEY = new Uint8Array(32).fill(1);
const MINER: PrefixedHexString = `0x${"0c".repeat(20)}`;
const UNCLE: PrefixedHexString = `0x${"0d".repeat(20)}`;
/** Writes DIFFICULTY, and SLOAD of it, whose price berlin changed. */
const CONTRACT: PrefixedHexString = `0x${"cc".repeat(20)}`;
const CODE = `0x44${codeOf("PUSH1 0 SSTORE PUSH1 0 SLOAD PUSH1 1 SSTORE STOP").slice(2)}`;
const ETHER = 10n ** 18n;
/** The forks of blocks 1, 2, .. of the chain, and what ethash pays for such a block, in ether. */
const FORKS = [
  ...[["chainstart", 5n] as const, ["homestead", 5n, "homesteadBlock"] as const],
  ...[["tangerineWhistle", 5n, "eip150Block"] as const, ["spuriousDragon", 5n, "eip158Block"] as const],
  ...[["byzantium", 3n, "byzantiumBlock"] as const, ["petersburg", 2n, "constantinopleBlock"] as const],
  ...[["istanbul", 2n, "istanbulBlock"] as const, ["berlin", 2n, "berlinBlock"] as const],
];
const BERLIN = FORKS.length;
const FORK_BLOCKS = Object.fromEntries(FORKS.slice(1).map(([, , field], at) => [field, at + 2]));

const genesis: Genesis = parseGenesis(
  JSON.stringify({
    config: {...FORK_BLOCKS, eip155Block: FORK_BLOCKS.eip158Block, chainId: 5},
    ...{difficulty: "0x20000", gasLimit: "0x1c9c380", timestamp: "0x1"},
    alloc: {[toHex(privateToAddress(KEY))]: {balance: `${ETHER}`}, [CONTRACT]: {balance: "0", code: CODE}},
  }),
);

class LibraryChain {
  readonly common: Common;
  parent = new Uint8Array(32);

  private constructor(
    private readonly genesis: Genesis,
    private readonly state: LibraryState,
  ) {
    this.common = createFullRules(genesis.forks);
  }

  static async start(genesis: Genesis): Promise<LibraryChain> {
    const {head, difference} = await makeGenesisBlock(genesis, new MemoryTries());
    const chain = new LibraryChain(genesis, LibraryState.of(difference));
    chain.parent = new Uint8Array(head.hash);
    return chain;
  }

  async startExecutor(): Promise<BlockExecutor> {
    const {forks} = this.genesis;
    const options = {forks, store: new MemoryTries(), blockHash: () => undefined};
    return (await BlockExecutor.start(options, this.genesis)).executor;
  }

  /** @param make - with these fields of the header in place of others */
  async seal(make: (fields: object) => Block): Promise<Block> {
    const transactionsTrie = await make({}).genTxTrie();
    const evmOpts = {cliqueSigner: (header: object) => cliqueSigner(header as BlockHeader)};
    const vm = await createVM({common: this.common, stateManager: this.state, evmOpts} as object);
    const options = {generate: true, skipHeaderValidation: true};
    const made = await runBlock(vm, {block: make({transactionsTrie}), ...options});
    const {stateRoot, receiptsRoot, gasUsed, logsBloom} = made;
    const block = make({transactionsTrie, stateRoot, receiptTrie: receiptsRoot, gasUsed, logsBloom});
    this.state.seal();
    this.parent = new Uint8Array(block.hash());
    return block;
  }

  async balanceOf(address: PrefixedHexString): Promise<bigint> {
    return (await this.state.getAccount(createAddressFromString(address)))?.balance ?? 0n;
  }
}

/** A call, a creation, which destroys itself in every second block, and an uncle from the second block on. */
function nextOfEthash(chain: LibraryChain, number: bigint): Promise<Block> {
  const {common, parent} = chain;
  common.setHardfork(forkOf(number)[0]);
  const creation = `PUSH1 1 PUSH1 2 SSTORE ${number % 2n === 0n ? "CALLER SELFDESTRUCT" : "PUSH1 1 PUSH1 0 RETURN"}`;
  const calls = [
    {to: CONTRACT},
    {data: codeOf(creation) as PrefixedHexString},
    {to: `0x${"e0".repeat(19)}${number.toString(16).padStart(2, "0")}` as const},
  ];
  const transactions = calls.map((call, at) =>
    createLegacyTx(
      {...call, nonce: 3n * (number - 1n) + BigInt(at), gasPrice: 10n, gasLimit: 100_000n},
      {common},
    ).sign(KEY),
  );
  const uncle = createBlockHeader({number: number - 1n, coinbase: UNCLE, difficulty: 3n}, {common});
  const uncleHeaders = number > 1n ? [uncle] : [];
  const uncleHash = keccak256(RLP.encode(uncleHeaders.map(one => one.raw())));
  return chain.seal(fields => {
    const header = {
      ...{number, parentHash: parent, timestamp: number + 1n, gasLimit: 30_000_000n, uncleHash},
      ...{difficulty: 131_072n + number, coinbase: MINER, mixHash: keccak256(KEY), ...fields},
    };
    const options = {common, skipConsensusFormatValidation: true};
    return createBlock({header, transactions, uncleHeaders}, options);
  });
}

function forkOf(number: bigint) {
  return FORKS[Math.min(Math.max(Number(number), 1), BERLIN) - 1] as (typeof FORKS)[number];
}

test("blocks of ethash are executed before berlin and after it, and their miners are paid for uncles", async () => {
  const chain = await LibraryChain.start(genesis);
  const executor = await chain.startExecutor();
  for (let number = 1; number <= BERLIN + 1; number++) {
    const block = await nextOfEthash(chain, BigInt(number));
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
  // An uncle of the block before pays 7/8 of the reward to its miner, and 1/32 to who names it. The first block has none.
  const rewards = Array.from({length: BERLIN + 1}, (_, at) => forkOf(BigInt(at + 1))[1] * ETHER);
  const sum = rewards.reduce((all, one) => all + one);
  const withUncles = sum - (rewards[0] as bigint);
  assert.equal(await chain.balanceOf(UNCLE), (withUncles * 7n) / 8n);
  const fees = (await chain.balanceOf(MINER)) - sum - withUncles / 32n;
  assert.ok(fees > 0n && fees < ETHER / 100n, `${fees}`);
});

test("a block whose uncles are not those of its header is refused with both hashes", async () => {
  const chain = await LibraryChain.start(genesis);
  const executor = await chain.startExecutor();
  for (let number = 1n; number < BERLIN; number++)
    await executor.execute((await nextOfEthash(chain, number)).serialize());
  const [header, transactions] = RLP.decode(
    (await nextOfEthash(chain, BigInt(BERLIN))).serialize(),
  ) as Uint8Array[];
  await assert.rejects(
    executor.execute(RLP.encode([header as Uint8Array, transactions as Uint8Array, []])),
    /block 8: its uncles have the root 0x1dcc4de8.*, its header names 0x[0-9a-f]{64}$/,
  );
});

test("a clique block's signer is its coinbase and gets its fees, and calls there see it", async () => {
  const signer = toHex(privateToAddress(KEY));
  // Stores COINBASE in slot 0.
  const code = codeOf("COINBASE PUSH1 0 SSTORE STOP");
  const text = JSON.stringify({
    config: {...configOfFork("london"), chainId: 5, clique: {period: 5, epoch: 30000}},
    ...{difficulty: "0x1", gasLimit: "0x1c9c380"},
    extraData: `0x${"00".repeat(32)}${signer.slice(2)}${"00".repeat(65)}`,
    alloc: {[signer]: {balance: `${ETHER}`}, [CONTRACT]: {balance: "0", code}},
  });
  const chain = await LibraryChain.start(parseGenesis(text));
  const {common, parent} = chain;
  common.setHardfork("london");
  const call = {nonce: 0, gasPrice: 2_000_000_000n, gasLimit: 100_000n, to: CONTRACT};
  const transactions = [createLegacyTx(call, {common}).sign(KEY, false)];
  const block = await chain.seal(fields => {
    const header = {
      ...{number: 1n, parentHash: parent, timestamp: 10n, gasLimit: 30_000_000n, difficulty: 2n},
      ...{extraData: Buffer.alloc(97), baseFeePerGas: 875_000_000n, ...fields},
    };
    return createSealedCliqueBlock({header, transactions}, KEY, {common});
  });
  const folder = new WorkFolder();
  const [genesisPath, blocks, db] = ["genesis.json", "blocks.rlp", "db"].map(name => folder.file(name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([writeFile(genesisPath, text), writeFile(blocks, block.serialize())]);
  const files = ["--genesis", genesisPath, "--blocks", blocks, "--finalized", "last"];
  assert.ok((await importHere(["--db", db, ...files])).ok);
  const service = await OwnService.serve(["--db", db], {estimates: true});
  const word = `0x${signer.slice(2).padStart(64, "0")}`;
  assert.equal((await service.call("eth_getStorageAt", [CONTRACT, "0x0", "0x1"])).result, word);
  // It paid itself the tip; only the base fee is gone.
  const left = ETHER - block.header.gasUsed * 875_000_000n;
  assert.equal(BigInt((await service.call("eth_getBalance", [signer, "0x1"])).result), left);
  const coinbase = {data: codeOf("COINBASE PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN")};
  assert.equal((await service.call("eth_call", [coinbase, "0x1"])).result, word);
  // Nobody has signed block 0.
  assert.equal((await service.call("eth_call", [coinbase, "0x0"])).result, `0x${"00".repeat(32)}`);
  const other = {feeRecipient: CONTRACT};
  const {result} = await service.call("eth_call", [coinbase, "0x1", null, other]);
  assert.equal(result, `0x${CONTRACT.slice(2).padStart(64, "0")}`);
  await service.stop();
});
