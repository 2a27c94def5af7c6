/** Blocks that are refused say in the project's own words what was wrong and what is expected. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {genTransactionsTrieRoot} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {RLP} from "@ethereumjs/rlp";
import {createFeeMarket1559Tx, createLegacyTx, type TypedTransaction} from "@ethereumjs/tx";
import {KECCAK256_RLP, KECCAK256_RLP_ARRAY, privateToAddress} from "@ethereumjs/util";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {createChainRules} from "../../../evm/execution/chainRules.ts";
import {ExecutionError} from "../../../evm/execution/executionError.ts";
import {parseGenesis} from "../../../evm/execution/genesis.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";

const RICH = new Uint8Array(32).fill(1);
const POOR = new Uint8Array(32).fill(2);
const CODED = new Uint8Array(32).fill(3);
const SHANGHAI_TIME = 1000;
const CANCUN_TIME = 2000;
const NOTHING = new Uint8Array(0);

const genesis = parseGenesis(
  JSON.stringify({
    config: {
      chainId: 1,
      ...Object.fromEntries(
        ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg"]
          .concat(["istanbul", "berlin", "london"])
          .map(fork => [`${fork}Block`, 0]),
      ),
      terminalTotalDifficulty: 0,
      shanghaiTime: SHANGHAI_TIME,
      cancunTime: CANCUN_TIME,
      blobSchedule: {cancun: {target: 3, max: 6, baseFeeUpdateFraction: 3_338_477}},
    },
    gasLimit: "0x1c9c380",
    difficulty: "0x0",
    baseFeePerGas: "0x7",
    alloc: {
      [addressOf(RICH)]: {balance: "0xde0b6b3a7640000"},
      [addressOf(CODED)]: {balance: "0xde0b6b3a7640000", code: "0x00"},
    },
  }),
);
let parentHash: Uint8Array;
let stateRoot: Uint8Array;
const common: Common = createChainRules(genesis.forks);
common.setHardfork("shanghai");

before(async () => {
  const {difference} = await start();
  parentHash = difference.header.hash;
  stateRoot = (difference.header as unknown as {stateRoot: Uint8Array}).stateRoot;
});

function start() {
  return BlockExecutor.start(
    {
      forks: genesis.forks,
      nodes: new Map(),
      blockHash: () => undefined,
    },
    genesis,
  );
}

function addressOf(key: Uint8Array): string {
  return toHex(privateToAddress(key));
}

type Field = Uint8Array | number;

/** Of block 1, a whole one of shanghai; only its state root is the genesis block's. */
function headerFields(): Field[] {
  return [
    ...[parentHash, KECCAK256_RLP_ARRAY, new Uint8Array(20), stateRoot, KECCAK256_RLP, KECCAK256_RLP],
    ...[new Uint8Array(256), NOTHING, 1, 30_000_000, NOTHING, SHANGHAI_TIME + 500, NOTHING],
    ...[new Uint8Array(32), new Uint8Array(8), 7, KECCAK256_RLP],
  ];
}

/** Positions in the header. */
const AT = {
  uncleHash: 1,
  transactionsRoot: 4,
  stateRoot: 3,
  receiptsRoot: 5,
  gasUsed: 10,
  timestamp: 11,
  nonce: 14,
  withdrawalsRoot: 16,
};

function header(changes: Partial<Record<keyof typeof AT, Field>> = {}): Field[] {
  const fields = headerFields();
  for (const [name, value] of Object.entries(changes)) fields[AT[name as keyof typeof AT]] = value;
  return fields;
}

async function refusal(...parts: unknown[]): Promise<string> {
  const {executor} = await start();
  let message = "";
  await assert.rejects(executor.execute(RLP.encode(parts as Uint8Array[])), (error: unknown) => {
    assert.ok(error instanceof ExecutionError);
    assert.equal(error.code, "BLOCK_INVALID");
    message = error.message;
    return true;
  });
  assert.doesNotMatch(message, /activated|EIP ?4895|vm hf|hardfork/);
  return message;
}

/** The block with these transactions, and their root. */
async function refusalOf(transactions: readonly TypedTransaction[]): Promise<string> {
  const transactionsRoot = await genTransactionsTrieRoot([...transactions]);
  const bodies = transactions.map(one => (one.type === 0 ? one.raw() : one.serialize()));
  return refusal(header({transactionsRoot}), bodies, [], []);
}

function send(key: Uint8Array, fields: object = {}): TypedTransaction {
  const call = {nonce: 0, gasLimit: 21_000, to: `0x${"11".repeat(20)}`, value: 1, ...fields} as const;
  return createFeeMarket1559Tx({maxFeePerGas: 100, maxPriorityFeePerGas: 1, ...call}, {common}).sign(key);
}

const AS = "by its number 1 and timestamp";

test("a block whose timestamp makes it one of another fork is told which", async () => {
  assert.equal(
    await refusal(header({timestamp: SHANGHAI_TIME - 1}), [], [], []),
    `block 1: expected the end, got 33 more bytes: ${AS} 999 it is a block of paris`,
  );
  for (const [changed, ...parts] of [
    [header({timestamp: CANCUN_TIME}), [], [], []],
    [header({timestamp: CANCUN_TIME}).concat(Array(9).fill(1)), [], [], []],
  ])
    assert.match(await refusal(changed, ...parts), /^block 1: expected .*: .* 2000 it is a block of cancun$/);
  assert.match(
    await refusal(header(), [], []),
    /^block 1: expected another item, got the end: .* of shanghai$/,
  );
});

test("a header that does not fit its block is told by field, with both values", async () => {
  const other = new Uint8Array(32).fill(9);
  const named = `expected ${toHex(other)} as in its header, got 0x[0-9a-f]{64}`;
  const table: [Partial<Record<keyof typeof AT, Field>>, string][] = [
    [{receiptsRoot: other.subarray(1)}, "expected 32 bytes, got 31"],
    [{nonce: NOTHING}, "expected 8 bytes, got 0"],
    [{nonce: new Uint8Array(8).fill(1)}, "nonce: expected 0 since the merge, got 0x0101010101010101"],
    [{transactionsRoot: other}, `transactions root: ${named}`],
    [{withdrawalsRoot: other}, `withdrawals root: ${named}`],
    [{uncleHash: other}, `uncle hash: ${named}`],
    [{gasUsed: 30_000_001}, "gas used is 30000001, its gas limit is 30000000, at most 9223372036854775807"],
  ];
  for (const [changes, message] of table)
    assert.match(
      await refusal(header(changes), [], [], []),
      new RegExp(`^block 1: ${message}: ${AS} 1500 it is a block of shanghai$`),
    );
  const uncles = [header()];
  const uncleHash = keccak256(RLP.encode(uncles as Uint8Array[][]));
  assert.match(
    await refusal(header({uncleHash}), [], uncles, []),
    /^block 1: it has uncles, which no block has since the merge: /,
  );
});

test("what execution gives is told beside what the header says", async () => {
  const other = new Uint8Array(32).fill(9);
  const table: [Partial<Record<keyof typeof AT, Field>>, RegExp][] = [
    [{gasUsed: 7}, /^block 1: gas used: expected 7 as in its header, got 0$/],
    [
      {receiptsRoot: other},
      /^block 1: receipts root: expected 0x(09){32} as in its header, got 0x[0-9a-f]{64}$/,
    ],
    [{stateRoot: other}, /^block 1: state root: expected 0x(09){32} as in its header, got 0x[0-9a-f]{64}$/],
  ];
  for (const [changes, message] of table) assert.match(await refusal(header(changes), [], [], []), message);
});

test("a transaction that cannot be in its block is told by position, and what is expected of it", async () => {
  const typed = (type: number) => new Uint8Array([type, 0xc0]);
  const nine = /^block 1: transaction 0: expected a transaction of type 1 to 4, got 9: /;
  assert.match(await refusal(header(), [typed(9)], [], []), nine);
  assert.match(await refusal(header(), [[1, 2]], [], []), /^block 1: transaction 0: expected /);
  const table: [TypedTransaction[], RegExp][] = [
    [[send(RICH, {nonce: 5})], /^transaction 0: its nonce is 5, the next one of its sender is 0$/],
    [[send(RICH), send(POOR)], /^transaction 1: it takes 2100001 wei, its sender 0x[0-9a-f]{40} has 0$/],
    [[send(CODED)], /^transaction 0: its sender is a contract \(EIP-3607\)$/],
    [
      [send(RICH, {gasLimit: 30_000_001})],
      /^transaction 0: its gas limit is 30000001, of the block's 30000000 is left$/,
    ],
    [
      [send(RICH, {gasLimit: 20_999})],
      /^transaction 0: its gas limit is 20999, it takes 21000 before it executes anything$/,
    ],
    [
      [send(RICH), send(RICH, {nonce: 1, maxFeePerGas: 6})],
      /^transaction 1: it pays at most 6 wei per gas, the block's base fee is 7$/,
    ],
  ];
  for (const [transactions, message] of table) {
    const refused = await refusalOf(transactions);
    assert.match(refused.replace("block 1: ", ""), message);
  }
  const unsigned = createLegacyTx({gasLimit: 21_000, gasPrice: 10}, {common});
  assert.match(await refusalOf([unsigned]), /^block 1: transaction 0/);
});
