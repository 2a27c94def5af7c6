/** What is read from a node besides the traces of a block. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {Block} from "@ethereumjs/block";
import {recoverAuthority} from "../../../../../evm/execution/run/authorizations.ts";
import type {NodeBlock} from "../../../../../nodes/blocks/blockReader.ts";
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
/** create2Deployer of OP stacks, and where BSC collects fees. */
const RARE = ["0x13b0d85ccb8bf860b6b79af3029fca081ae9bef2", `0x${"ff".repeat(19)}fe`];
const FEE_VAULTS = ["19", "1a", "1b"].map(end => `0x42${"0".repeat(36)}${end}`);

for (const isChecked of [false, true])
  test(`who is paid outside of transactions, system contracts, the fee vaults of an OP stack${isChecked ? "" : ", senders and recipients"} are read though no trace names them`, () =>
    readUntraced(isChecked));

const CONTRACT = `0x${"c0".repeat(20)}`;
const MADE = `0x${"c1".repeat(20)}`;
const CODE = "0x6001";
const CODE_HASH = `0x${"ab".repeat(32)}`;
const SLOTS = {[`0x${"0".repeat(64)}`]: `0x${"0".repeat(63)}1`};

interface TraceOptions {
  readonly tracerConfig: {readonly disableCode?: boolean; readonly diffMode?: boolean};
}

interface CodesCase {
  readonly title: string;
  /** What the node gives of an account with this code, or the code of its refusal to leave codes out. */
  readonly show: ((code: string, isLeftOut: boolean) => object) | number;
  /** Whether it was asked to leave codes out, by its traces of two blocks. */
  readonly leftOut: readonly boolean[];
  readonly told: readonly RegExp[];
  readonly codesRead: readonly string[];
}

const CODES: readonly CodesCase[] = [
  {
    title: "leaves codes out and gives their hashes is asked for the new code",
    show: (code, isLeftOut) => ({codeHash: CODE_HASH, ...(!isLeftOut && {code})}),
    ...{leftOut: [true, true], told: [], codesRead: [MADE, MADE]},
  },
  {
    title: "leaves codes out and gives no hashes is asked for traces with codes",
    show: (code, isLeftOut) => (isLeftOut ? {} : {code}),
    ...{leftOut: [true, false, false], codesRead: []},
    told: [/^debug_traceBlockByNumber of block 40, transaction 0: 0xc0\w+ has neither code nor codeHash$/],
  },
  {
    title: "leaves codes out as they were before is asked for traces with codes",
    show: (code, isLeftOut) => (isLeftOut && code !== CODE ? {} : {code}),
    ...{leftOut: [true, false, false], told: [/has neither code nor codeHash$/], codesRead: []},
  },
  {
    title: "refuses to leave codes out is asked for traces with codes",
    show: -32602,
    ...{leftOut: [true, false, false], told: [/^unknown field disableCode$/], codesRead: []},
  },
  {
    title: "refuses for another reason is asked to leave codes out of the next block",
    show: -32000,
    ...{leftOut: [true, false, true, false], told: [], codesRead: []},
  },
  {
    title: "gives codes all the same is not asked again",
    show: code => ({code}),
    ...{leftOut: [true, true], told: [], codesRead: []},
  },
];
for (const {title, show, leftOut, told, codesRead} of CODES)
  test(`a node that ${title}, and the codes are the same`, async () => {
    const block = (await readDemoBlocks())[NUMBER] as Block;
    const json = describeBlock(block);
    const brief = {...json, transactions: block.transactions.map(one => toHex(one.hash()))};
    const asked: boolean[] = [];
    const read: unknown[] = [];
    const reasons: string[] = [];
    const answer: Node["request"] = async (method, [first, options]) => {
      if (method === "eth_getBlockByNumber") return options === true ? json : brief;
      if (method === "eth_getCode" && first === MADE) read.push(first);
      if (method === "eth_getCode") return first === MADE ? CODE : "0x";
      if (method === "debug_traceCall") return {pre: {}, post: {}};
      if (method === "debug_getModifiedAccountsByNumber") throw new NodeRefusal("no preimage", -32000);
      if (method !== "debug_traceBlockByNumber") return "0x01";
      const {disableCode: isLeftOut = false, diffMode} = (options as TraceOptions).tracerConfig;
      if (diffMode === true) asked.push(isLeftOut);
      if (typeof show === "number" && isLeftOut) throw new NodeRefusal("unknown field disableCode", show);
      if (diffMode !== true) return block.transactions.map(() => ({result: {}}));
      const told = (code: string): object => (typeof show === "number" ? {code} : show(code, isLeftOut));
      const pre = {[CONTRACT]: {nonce: 1, balance: "0x1", ...told("0x6002")}};
      const post = {[CONTRACT]: {storage: SLOTS}, [MADE]: {nonce: 1, ...told(CODE)}};
      return block.transactions.map((_, at) => ({result: at === 0 ? {pre, post} : {pre: {}, post: {}}}));
    };
    const node = nodeOf(answer);
    const reader = new TraceReader(
      recoverAuthority,
      () => true,
      (name, why) => reasons.push(`${name}: ${why}`.replace("http://node: ", "")),
    );
    for (let time = 0; time < 2; time++) {
      const [{difference} = assert.fail()] = await reader.read(node, NUMBER, NUMBER);
      const {accounts} = await difference();
      const changes = Array.from({length: accounts.count}, (_, at) => accounts.at(at));
      const find = (address: string) => changes.find(one => toHex(one.address) === address)?.change;
      assert.equal(toHex(find(MADE)?.code ?? Buffer.of()), CODE);
      assert.deepEqual([find(CONTRACT)?.code, find(CONTRACT)?.reset], [undefined, false]);
    }
    assert.deepEqual(asked, leftOut);
    assert.deepEqual(read, codesRead);
    assert.equal(reasons.length, told.length);
    for (const [at, reason] of told.entries()) assert.match(reasons[at] ?? "", reason);
    assert.equal((await reader.reread(node, NUMBER))?.number, NUMBER);
  });

test("what changed outside of transactions is read back: accounts of chains' rules, and those that the node names", async () => {
  const block = (await readDemoBlocks())[NUMBER] as Block;
  const brief = {...describeBlock(block), transactions: block.transactions.map(one => toHex(one.hash()))};
  const named = `0x${"d0".repeat(20)}`;
  const codes = new Map([...RARE, named].map((address, at) => [address, `0x60${at}0`]));
  const answer: Node["request"] = async (method, [first, second]) => {
    if (method === "eth_getBlockByNumber") return second === true ? describeBlock(block) : brief;
    if (method === "debug_traceCall") return {pre: {}, post: {}};
    if (method === "debug_traceBlockByNumber") {
      const {diffMode} = (second as TraceOptions).tracerConfig;
      return block.transactions.map(() => ({result: diffMode ? {pre: {}, post: {}} : {}}));
    }
    if (method === "debug_getModifiedAccountsByNumber") return first === NUMBER ? [named] : [];
    if (method === "eth_getCode") return codes.get(first as string) ?? "0x";
    return "0x0";
  };
  const requestAll: Node["requestAll"] = calls =>
    Promise.all(calls.map(({method, params}) => answer(method, params)));
  const reader = new TraceReader(
    recoverAuthority,
    () => true,
    () => {},
  );
  const node: Node = {name: "http://node", request: answer, requestAll};
  const read = async (blocks: readonly NodeBlock[]) => {
    const {accounts} = await (blocks[0] ?? assert.fail()).difference();
    const changes = Array.from({length: accounts.count}, (_, at) => accounts.at(at));
    return changes.flatMap(({address, change}) =>
      change?.code ? [[toHex(address), toHex(change.code)]] : [],
    );
  };
  assert.deepEqual(await read(await reader.read(node, NUMBER, NUMBER)), []);
  const again = [(await reader.reread(node, NUMBER)) ?? assert.fail()];
  assert.deepEqual(new Map((await read(again)) as [string, string][]), codes);
});

async function readUntraced(isChecked: boolean): Promise<void> {
  const block = (await readDemoBlocks())[NUMBER] as Block;
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
  const node = nodeOf(answer);
  const reader = new TraceReader(
    recoverAuthority,
    () => isChecked,
    () => {},
  );
  const [read] = await reader.read(node, NUMBER, NUMBER);
  assert.ok(read !== undefined);
  const {header, transactions, withdrawals = []} = block;
  assert.ok(transactions.length > 1 && withdrawals.length > 1);
  const touched = [
    header.coinbase,
    ...transactions
      .filter(() => !isChecked)
      .flatMap(one => [one.getSenderAddress(), ...(one.to === undefined ? [] : [one.to])]),
    ...withdrawals.map(({address}) => address),
  ].map(address => address.toString());
  const always = [UNCLE_MINER, ...SYSTEM_CONTRACTS, ...FEE_VAULTS];
  assert.deepEqual(accounts, new Set([...touched, ...always, ...(isChecked ? [] : RARE)]));
  assert.deepEqual(written, new Set(SYSTEM_CONTRACTS));
  assert.equal((await read.difference()).accounts.count, accounts.size);
}

function nodeOf(answer: Node["request"]): Node {
  const requestAll: Node["requestAll"] = calls =>
    Promise.all(calls.map(({method, params}) => answer(method, params)));
  return {name: "http://node", request: answer, requestAll};
}
