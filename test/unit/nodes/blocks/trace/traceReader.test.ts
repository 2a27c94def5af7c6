/** What is read from a node besides the traces of a block. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {TraceReader} from "../../../../../nodes/blocks/trace/traceReader.ts";
import {type Node, NodeRefusal} from "../../../../../nodes/rpc/node.ts";
import {toHex} from "../../../../../storage/hex.ts";
import {readDemoBlocks} from "../../../../support/nodes/demoNode.ts";
import {describeBlock} from "../../../../support/nodes/jsonBlocks.ts";

/** It has several transactions and withdrawals. */
const NUMBER = 40;
const UNCLE_MINER = `0x${"ee".repeat(20)}`;
const SYSTEM_CONTRACTS = [
  "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
  "0x0000f90827f1c53a10cb7a02335b175320002935",
  "0x00000961ef480eb55e80d19ad83579a64c007002",
  "0x0000bbddc7ce488642fb579f8b00f3a590007251",
];
const FEE_VAULTS = ["19", "1a", "1b"].map(end => `0x42${"0".repeat(36)}${end}`);

for (const isChecked of [false, true])
  test(`who is paid outside of transactions, system contracts, the fee vaults of an OP stack${isChecked ? "" : ", senders and recipients"} are read though no trace names them`, () =>
    readUntraced(isChecked));

async function readUntraced(isChecked: boolean): Promise<void> {
  const {[NUMBER]: block} = await readDemoBlocks();
  // An uncle's hash is not part of the header that is compared.
  const json = {...describeBlock(block), uncles: [`0x${"ab".repeat(32)}`]};
  const hashes = block.transactions.map(one => toHex(one.hash()));
  const accounts = new Set<unknown>();
  const written = new Set<unknown>();
  const answer: Node["request"] = async (method, [first, second]) => {
    if (method === "eth_getBlockByNumber") return second === true ? json : {...json, transactions: hashes};
    if (method === "eth_getUncleByBlockNumberAndIndex") return {miner: UNCLE_MINER};
    // Some nodes write null for a transaction that changed nothing, also when they are asked what they can do.
    if (method === "debug_traceCall") throw new NodeRefusal("the method does not exist", -32601);
    if (method === "trace_call") return {output: "0x", stateDiff: null, trace: [], vmTrace: null};
    if (method === "trace_replayBlockTransactions")
      return block.transactions.map((_, at) => ({stateDiff: at === 0 ? {} : null}));
    if (method === "eth_getBalance") accounts.add(first);
    if (method === "eth_getStorageAt") written.add(first);
    return "0x01";
  };
  const requestAll: Node["requestAll"] = calls =>
    Promise.all(calls.map(({method, params}) => answer(method, params)));
  const node: Node = {name: "http://node", request: answer, requestAll};
  const [read] = await new TraceReader(undefined, () => isChecked).read(node, NUMBER, NUMBER);
  const {header, transactions, withdrawals = []} = block;
  assert.ok(transactions.length > 1 && withdrawals.length > 1);
  const touched = [
    header.coinbase,
    ...transactions
      .filter(() => !isChecked)
      .flatMap(one => [one.getSenderAddress(), ...(one.to === undefined ? [] : [one.to])]),
    ...withdrawals.map(({address}) => address),
  ].map(address => address.toString());
  assert.deepEqual(accounts, new Set([...touched, UNCLE_MINER, ...SYSTEM_CONTRACTS, ...FEE_VAULTS]));
  assert.deepEqual(written, new Set(SYSTEM_CONTRACTS));
  assert.equal((await read.difference()).accounts.count, accounts.size);
}
