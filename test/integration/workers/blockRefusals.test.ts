/** Blocks that are refused, and what is said of them: by their form, their header, their parent, their transactions or a system contract. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {genTransactionsTrieRoot} from "@ethereumjs/block";
import {RLP} from "@ethereumjs/rlp";
import {createFeeMarket1559Tx, createLegacyTx, type TypedTransaction} from "@ethereumjs/tx";
import {KECCAK256_RLP, KECCAK256_RLP_ARRAY, privateToAddress, SHA256_NULL} from "@ethereumjs/util";
import {BlockExecutor, type BlockExecutorOptions} from "../../../evm/execution/blockExecutor.ts";
import type {BlockHead} from "../../../evm/execution/blockHead.ts";
import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import {checkParent} from "../../../evm/execution/parentCheck.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {createCommon} from "../../support/estimates/hardforks.ts";
import {parseGenesis} from "../../support/evm/genesisText.ts";

const WITHDRAWALS = "0x00000961ef480eb55e80d19ad83579a64c007002";
const CONSOLIDATIONS = "0x0000bbddc7ce488642fb579f8b00f3a590007251";
const STOP = {balance: "0x0", code: "0x00"};
const REVERT = {balance: "0x0", code: "0x5f5ffd"};
const INVALID = {balance: "0x0", code: "0xfe"};
const NO_CODE = {balance: "0x1"};
const BLOB = 131_072n;
const NOTHING = new Uint8Array(0);
const OTHER = new Uint8Array(32).fill(9);
const RICH = new Uint8Array(32).fill(1);
const POOR = new Uint8Array(32).fill(2);
const SHANGHAI_TIME = 1000n;
const CANCUN_TIME = 2000n;

interface Chain {
  readonly executor: BlockExecutor;
  readonly options: BlockExecutorOptions;
  readonly parent: BlockHead;
}

/** @param fields - of the genesis file */
async function start(fork: string, fields: object = {}, config: object = {}): Promise<Chain> {
  const blobs = {target: 6, max: 9, baseFeeUpdateFraction: 5_007_716};
  const genesis = parseGenesis(
    JSON.stringify({
      config: {chainId: 1, ...configOfFork(fork), blobSchedule: {prague: blobs, osaka: blobs}, ...config},
      ...{gasLimit: "0x1c9c380", difficulty: "0x0", baseFeePerGas: "0x7"},
      alloc: {[WITHDRAWALS]: STOP, [CONSOLIDATIONS]: STOP},
      ...fields,
    }),
  );
  const options = {forks: genesis.forks, store: new MemoryTries(), blockHash: () => undefined};
  const {executor, difference} = await BlockExecutor.start(options, genesis);
  return {executor, options, parent: difference.header as BlockHead};
}

type Changes = Readonly<Record<string, Uint8Array | bigint>>;

/** The header of an empty block after `parent`, with other values in some fields. */
function headerAfter(parent: BlockHead, changes: Changes = {}): Uint8Array[] {
  const fields: Record<string, Uint8Array | bigint | undefined> = {
    ...{parentHash: parent.hash, uncleHash: KECCAK256_RLP_ARRAY, miner: new Uint8Array(20)},
    ...{stateRoot: parent.stateRoot, transactionsRoot: KECCAK256_RLP, receiptsRoot: KECCAK256_RLP},
    ...{bloom: new Uint8Array(256), difficulty: NOTHING, number: BigInt(parent.number + 1)},
    ...{gasLimit: parent.gasLimit, gasUsed: NOTHING, timestamp: parent.timestamp + 12n, extraData: NOTHING},
    ...{mixHash: new Uint8Array(32), nonce: new Uint8Array(8), baseFee: parent.baseFeePerGas},
    withdrawalsRoot: KECCAK256_RLP,
    ...(parent.excessBlobGas !== undefined && {
      ...{blobGasUsed: NOTHING, excessBlobGas: parent.excessBlobGas, beaconRoot: new Uint8Array(32)},
      requestsHash: SHA256_NULL,
    }),
    ...changes,
  };
  return Object.values(fields) as Uint8Array[];
}

function blockAfter(parent: BlockHead, changes: Changes = {}): Uint8Array {
  return RLP.encode([headerAfter(parent, changes), [], [], []]);
}

async function refuse({executor}: Chain, block: Uint8Array, message: string | RegExp): Promise<void> {
  await assert.rejects(executor.execute(block), {name: "ExecutionError", code: "BLOCK_INVALID", message});
}

/** Of shanghai from a time on, then of cancun. */
let timed: Chain;

before(async () => {
  const alloc = {[toHex(privateToAddress(RICH))]: {balance: "0xde0b6b3a7640000"}};
  const times = {shanghaiTime: Number(SHANGHAI_TIME), cancunTime: Number(CANCUN_TIME)};
  timed = await start("paris", {alloc}, {...times, blobSchedule: {}});
});

/** Block 1 of shanghai, whole; only its state root is the genesis block's. */
function header(changes: Changes = {}): Uint8Array[] {
  return headerAfter(timed.parent, {timestamp: SHANGHAI_TIME + 500n, ...changes});
}

function refuseParts(message: string | RegExp, ...parts: unknown[]): Promise<void> {
  return refuse(timed, RLP.encode(parts as Uint8Array[]), message);
}

const AS = "by its number 1 and timestamp";

test("a block whose timestamp makes it one of another fork is told which", async () => {
  const early = `block 1: expected the end, got 33 more bytes: ${AS} 999 it is a block of paris`;
  await refuseParts(early, header({timestamp: SHANGHAI_TIME - 1n}), [], [], []);
  const late = header({timestamp: CANCUN_TIME});
  for (const one of [late, [...late, ...Array(9).fill(1)]])
    await refuseParts(/^block 1: expected .*: .* 2000 it is a block of cancun$/, one, [], [], []);
  await refuseParts(/^block 1: expected another item, got the end: .* of shanghai$/, header(), [], []);
});

test("a header that does not fit its block is told by field, with both values", async () => {
  const table: readonly (readonly [Changes, string])[] = [
    [{receiptsRoot: OTHER.subarray(1)}, "expected 32 bytes, got 31"],
    [{nonce: NOTHING}, "expected 8 bytes, got 0"],
    [{nonce: new Uint8Array(8).fill(1)}, "nonce: expected 0 since the merge, got 0x0101010101010101"],
    [{gasUsed: 30_000_001n}, "gas used is 30000001, its gas limit is 30000000, at most 9223372036854775807"],
  ];
  for (const [changes, message] of table) {
    const whole = new RegExp(`^block 1: ${message}: ${AS} 1500 it is a block of shanghai$`);
    await refuseParts(whole, header(changes), [], [], []);
  }
  for (const [changes, part] of [
    [{transactionsRoot: OTHER}, "transactions"],
    [{withdrawalsRoot: OTHER}, "withdrawals"],
    [{uncleHash: OTHER}, "uncles"],
  ] as const) {
    const whole = `^block 1: its ${part} have the root 0x[0-9a-f]{64}, its header names ${toHex(OTHER)}$`;
    await refuseParts(new RegExp(whole), header(changes), [], [], []);
  }
  const uncles = [header()];
  const uncleHash = keccak256(RLP.encode(uncles));
  const message = /^block 1: it has uncles, which are not allowed after the merge: /;
  await refuseParts(message, header({uncleHash}), [], uncles, []);
});

test("what execution gives is told beside what the header says", async () => {
  for (const [changes, message] of [
    [{gasUsed: 7n}, /^block 1: gas used: expected 7 as in its header, got 0$/],
    [
      {receiptsRoot: OTHER},
      /^block 1: receipts root: expected 0x(09){32} as in its header, got 0x[0-9a-f]{64}$/,
    ],
    [{stateRoot: OTHER}, /^block 1: state root: expected 0x(09){32} as in its header, got 0x[0-9a-f]{64}$/],
  ] as const)
    await refuseParts(message, header(changes), [], [], []);
});

test("a transaction that cannot be in its block is told by position, and what is expected of it", async () => {
  const nine = /^block 1: transaction 0: expected a transaction of type 1 to 4, got 9: /;
  await refuseParts(nine, header(), [Uint8Array.of(9, 0xc0)], [], []);
  await refuseParts(/^block 1: transaction 0: expected /, header(), [[1, 2]], [], []);
  const common = createCommon("shanghai", 1n);
  const call = {gasLimit: 21_000, to: `0x${"11".repeat(20)}`, value: 1} as const;
  const send = (key: Uint8Array) =>
    createFeeMarket1559Tx({...call, maxFeePerGas: 100, maxPriorityFeePerGas: 1}, {common}).sign(key);
  // unit/evm/execution/run/transaction.test.ts has all the rules.
  const table: readonly (readonly [TypedTransaction[], RegExp])[] = [
    [
      [send(RICH), send(POOR)],
      /^block 1: transaction 1: it needs up to 2100001 wei, its sender 0x[0-9a-f]{40} has 0$/,
    ],
    [[createLegacyTx({gasLimit: 21_000, gasPrice: 10}, {common})], /^block 1: transaction 0/],
  ];
  for (const [transactions, message] of table) {
    const transactionsRoot = await genTransactionsTrieRoot(transactions);
    const bodies = transactions.map(one => (one.type === 0 ? one.raw() : one.serialize()));
    await refuseParts(message, header({transactionsRoot}), bodies, [], []);
  }
});

test("timestamp, gas limit and base fee must follow from the parent's", async () => {
  const chain = await start("prague", {timestamp: "0x64"});
  const refusals: readonly [Record<string, bigint>, string][] = [
    [{timestamp: 99n}, "timestamp: expected 100 or later, the parent's, got 99"],
    [{gasLimit: 30_029_296n}, "gas limit: expected 29970705 to 30029295 from its parent's, got 30029296"],
    [{gasLimit: 29_970_704n}, "gas limit: expected 29970705 to 30029295 from its parent's, got 29970704"],
    [{baseFee: 8n}, "base fee: expected 7 from its parent, got 8"],
  ];
  for (const [changes, message] of refusals)
    await refuse(chain, blockAfter(chain.parent, changes), `block 1: ${message}`);
  await chain.executor.execute(
    blockAfter(chain.parent, {timestamp: 100n, gasLimit: 30_029_295n, baseFee: 7n}),
  );
});

test("the first block with a base fee has the initial one, and twice the gas limit of its parent", () => {
  const forks = new ForkSchedule({...configOfFork("london"), chainId: 1});
  const parent = {number: 0, timestamp: 100n, gasLimit: 5_000_000n, gasUsed: 0n} as BlockHead;
  const head = {timestamp: 112n, gasLimit: 10_000_000n, baseFeePerGas: 1_000_000_000n} as BlockHead;
  checkParent(head, parent, forks, "london");
  const refuse = (changes: Partial<BlockHead>, message: string) =>
    assert.throws(() => checkParent({...head, ...changes}, parent, forks, "london"), {message});
  refuse({baseFeePerGas: 875_000_000n}, "base fee: expected 1000000000 from its parent, got 875000000");
  refuse({gasLimit: 5_000_000n}, "gas limit: expected 9990236 to 10009764 from its parent's, got 5000000");
});

test("excess blob gas must be what the parent gives, also after the execution was resumed", async () => {
  const excessBlobGas = `0x${(10n * BLOB).toString(16)}`;
  const cases: readonly [fork: string, genesis: object, baseFee: bigint, excess: bigint][] = [
    ["prague", {excessBlobGas}, 7n, 4n * BLOB],
    ["osaka", {excessBlobGas}, 7n, 4n * BLOB],
    // EIP-7918: blobs are cheaper than the gas for them, so the excess does not fall.
    ["osaka", {excessBlobGas, baseFeePerGas: "0x3b9aca00"}, 875_000_000n, 10n * BLOB],
    ["osaka", {excessBlobGas, blobGasUsed: `0x${(9n * BLOB).toString(16)}`}, 7n, 13n * BLOB],
  ];
  for (const [fork, fields, baseFee, excess] of cases) {
    const chain = await start(fork, fields);
    for (const wrong of [0n, excess - 1n, excess + BLOB])
      await refuse(
        chain,
        blockAfter(chain.parent, {baseFee, excessBlobGas: wrong}),
        `block 1: excess blob gas: expected ${excess} from its parent, got ${wrong}`,
      );
    const {header, trie} = await chain.executor.execute(
      blockAfter(chain.parent, {baseFee, excessBlobGas: excess}),
    );
    const executor = BlockExecutor.resume(chain.options, header, trie);
    const next = blockAfter(header as BlockHead, {excessBlobGas: 99n * BLOB});
    await refuse(
      {...chain, executor},
      next,
      /^block 2: (base fee|excess blob gas): expected \d+ from its parent, got/,
    );
  }
});

test("a block is invalid when a system contract has no code or its call fails", async () => {
  for (const [eip, address] of [
    [7002, WITHDRAWALS],
    [7251, CONSOLIDATIONS],
  ] as const) {
    const table: readonly [object | undefined, string][] = [
      [undefined, `the system contract ${address} (EIP-${eip}) has no code`],
      [NO_CODE, `the system contract ${address} (EIP-${eip}) has no code`],
      [REVERT, `the call of the system contract ${address} (EIP-${eip}) fails: revert`],
      [INVALID, `the call of the system contract ${address} (EIP-${eip}) fails: invalidOpcode`],
    ];
    for (const [account, message] of table) {
      const alloc = {[WITHDRAWALS]: STOP, [CONSOLIDATIONS]: STOP, [address]: account};
      const chain = await start("prague", {alloc});
      await refuse(chain, blockAfter(chain.parent), `block 1: ${message}`);
      const cancun = await start("cancun", {alloc});
      const withoutRequests = headerAfter(cancun.parent).slice(0, -1);
      const {header: taken} = await cancun.executor.execute(RLP.encode([withoutRequests, [], [], []]));
      assert.deepEqual(taken.hash, keccak256(RLP.encode(withoutRequests)));
    }
  }
});

test("the system contracts are where the genesis config says", async () => {
  const elsewhere = `0x${"77".repeat(20)}`;
  const alloc = {[elsewhere]: STOP, [WITHDRAWALS]: REVERT, [CONSOLIDATIONS]: STOP};
  const chain = await start("osaka", {alloc}, {withdrawalRequestContractAddress: elsewhere});
  await chain.executor.execute(blockAfter(chain.parent));
  const none = await start("osaka", {alloc}, {consolidationRequestContractAddress: `0x${"78".repeat(20)}`});
  await refuse(
    none,
    blockAfter(none.parent),
    /^block 1: the call of the system contract 0x0{5}961ef.* fails: revert$/,
  );
});
