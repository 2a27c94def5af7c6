/**
 * The public conformance chain of ../shared/data/rpc-compat, read as traces of our own execution. It has block rewards,
 * withdrawals, beacon roots and the other system contracts. Its first blocks, from before EIP-161, are taken as executed.
 */
import assert from "node:assert/strict";
import {createReadStream, existsSync, readFileSync} from "node:fs";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {type Block, createBlockFromRLP} from "@ethereumjs/block";
import {Address, unpadBytes} from "@ethereumjs/util";
import {createVM, runBlock} from "@ethereumjs/vm";
import {BlockExecutor} from "../../../../evm/execution/blockExecutor.ts";
import {decodeBlockHead} from "../../../../evm/execution/blockHead.ts";
import {createChainRules} from "../../../../evm/execution/chainRules.ts";
import {ExecutionState} from "../../../../evm/execution/executionState.ts";
import {type Genesis, parseGenesis} from "../../../../evm/execution/genesis.ts";
import {readRlpBlocks} from "../../../../evm/execution/rlpBlocks.ts";
import {TraceReader} from "../../../../nodes/blocks/trace/traceReader.ts";
import {type Node, type NodeCall, NodeRefusal} from "../../../../nodes/rpc/node.ts";
import type {BlockDifference} from "../../../../storage/block/blockDifference.ts";
import {decodeTrieRoot, trieRootName} from "../../../../storage/block/trieRoot.ts";
import {toHex} from "../../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "../../../support/chains/memoryState.ts";
import {describeBlock} from "../../../support/nodes/jsonBlocks.ts";
import {notRun} from "../../../support/processes/notRun.ts";
import {ComparedStores} from "../../../support/stores/comparedStores.ts";

type Seen = ReadonlyMap<string, MemoryAccount | undefined>;
type Accounts = ReadonlyMap<string, MemoryAccount>;

const ZERO = `0x${"0".repeat(64)}`;

class ExecutedNode implements Node {
  readonly name = "executed";
  /** From block 0 on. */
  readonly differences: BlockDifference[] = [];
  private readonly blocks: object[] = [];
  private readonly states: Accounts[] = [];
  private readonly traces: object[][] = [[]];
  private readonly uncles: string[][] = [[]];

  /** @param blocks - RLP, from block 1 on */
  static async execute(genesis: Genesis, blocks: readonly Uint8Array[]): Promise<ExecutedNode> {
    const node = new ExecutedNode();
    const nodes = new Map<string, Uint8Array>();
    const blockHash = (number: number) => node.differences[number]?.header.hash;
    const {executor, difference} = await BlockExecutor.start(
      {forks: genesis.forks, nodes, blockHash},
      genesis,
    );
    const state = new MemoryState();
    const add = (made: BlockDifference): void => {
      node.differences.push(made);
      state.apply(made);
      node.states.push(structuredClone(state.accounts));
    };
    add(difference);
    node.blocks.push({});
    for (const rlp of blocks) {
      const {stateRoot: _, ...parent} = decodeBlockHead(rlp, "a block");
      const made = await executor.execute(rlp);
      const common = createChainRules(genesis.forks);
      common.setHardfork(genesis.forks.forkAt(parent));
      const block = createBlockFromRLP(rlp, {common});
      const looked = new ExecutionState(nodes);
      await looked.setStateRoot(await node.parentRoot(nodes, made));
      node.traces.push(await traceBlock(block, looked, made, blockHash));
      node.uncles.push(block.uncleHeaders.map(({coinbase}) => coinbase.toString()));
      node.blocks.push(describeBlock(block));
      add(made);
    }
    return node;
  }

  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    const [first, second, third] = params as string[];
    const account = (at: string | undefined): MemoryAccount | undefined =>
      this.states[Number(at)]?.get(String(first));
    switch (method) {
      case "eth_getBlockByNumber":
        return this.blocks[Number(first)] ?? null;
      case "trace_replayBlockTransactions":
        return this.traces[Number(first)];
      case "trace_call":
        return {stateDiff: {}};
      case "eth_getUncleByBlockNumberAndIndex":
        return {miner: this.uncles[Number(first)]?.[Number(second)]};
      case "eth_getTransactionCount":
        return hex(account(second)?.nonce ?? 0n);
      case "eth_getBalance":
        return hex(account(second)?.balance ?? 0n);
      case "eth_getCode":
        return toHex(account(second)?.code ?? new Uint8Array(0));
      case "eth_getStorageAt":
        return account(third)?.slots.get(String(second)) ?? ZERO;
      default:
        throw new NodeRefusal(`the method ${method} does not exist`, -32601);
    }
  }

  async requestAll(calls: readonly NodeCall[]): Promise<unknown[]> {
    return Promise.all(calls.map(({method, params}) => this.request(method, params)));
  }

  private async parentRoot(nodes: {get(key: string): Uint8Array | undefined}, made: BlockDifference) {
    const hash = this.differences[made.header.number - 1]?.header.hash as Uint8Array;
    return decodeTrieRoot(nodes.get(trieRootName(hash)) as Uint8Array).root;
  }
}

async function traceBlock(
  block: Block,
  state: ExecutionState,
  made: BlockDifference,
  blockHash: (number: number) => Uint8Array | undefined,
): Promise<object[]> {
  const {common} = block;
  const blockchain = {
    getBlock: async (number: number) => ({hash: () => blockHash(number)}),
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  };
  const evmOpts = {common, stateManager: state, blockchain};
  const vm = await createVM({common, stateManager: state, blockchain, evmOpts} as object);
  const traces: object[] = [];
  let before: Seen = new Map();
  vm.events.on("beforeTx", async (_, done) => {
    before = await look(state, made);
    done?.();
  });
  vm.events.on("afterTx", async ({transaction}, done) => {
    const stateDiff = compare(before, await look(state, made));
    traces.push({stateDiff, transactionHash: toHex(transaction.hash()), trace: [], vmTrace: null});
    done?.();
  });
  await runBlock(vm, {block, skipHeaderValidation: true});
  return traces;
}

/** The accounts and slots that the block writes, as they are now. */
async function look(state: ExecutionState, {accounts}: BlockDifference): Promise<Seen> {
  const seen = new Map<string, MemoryAccount | undefined>();
  for (let position = 0; position < accounts.count; position++) {
    const {address: bytes, change} = accounts.at(position);
    const address = new Address(new Uint8Array(bytes));
    const account = await state.getAccount(address);
    if (account === undefined) {
      seen.set(toHex(bytes), undefined);
      continue;
    }
    const slots = new Map<string, string>();
    for (const {slot} of change?.storage ?? []) {
      const value = unpadBytes(await state.getStorage(address, new Uint8Array(slot)));
      if (value.length > 0)
        slots.set(toHex(slot), `0x${Buffer.from(value).toString("hex").padStart(64, "0")}`);
    }
    const {nonce, balance} = account;
    seen.set(toHex(bytes), {nonce, balance, code: await state.getCode(address), slots});
  }
  return seen;
}

function compare(before: Seen, after: Seen): object {
  const accounts: Record<string, object> = {};
  for (const [address, now] of after) {
    const was = before.get(address);
    const isMade = was === undefined;
    const isGone = now === undefined;
    if (isMade && isGone) continue;
    const delta = (from: string | undefined, to: string | undefined): unknown => {
      if (isMade) return {"+": to};
      if (isGone) return {"-": from};
      return from === to ? "=" : {"*": {from, to}};
    };
    const storage: Record<string, unknown> = {};
    for (const slot of new Set([...(was?.slots.keys() ?? []), ...(now?.slots.keys() ?? [])])) {
      const value = delta(was?.slots.get(slot) ?? ZERO, now?.slots.get(slot) ?? ZERO);
      if (value !== "=") storage[slot] = value;
    }
    const account = {
      nonce: delta(was && hex(was.nonce), now && hex(now.nonce)),
      balance: delta(was && hex(was.balance), now && hex(now.balance)),
      code: delta(was && toHex(was.code), now && toHex(now.code)),
    };
    const isChanged = Object.values(account).some(value => value !== "=") || Object.keys(storage).length > 0;
    if (isChanged) accounts[address] = {...account, storage};
  }
  return accounts;
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

const CONFORMANCE = fileURLToPath(
  new URL("../shared/data/rpc-compat", import.meta.resolve("#package/package.json")),
);

test("the conformance chain, read as stateDiff traces, gives the roots of the executed blocks", async t => {
  if (!existsSync(CONFORMANCE)) {
    notRun(t, `${CONFORMANCE} is missing`);
    return;
  }
  const blocks: Uint8Array[] = [];
  for await (const {bytes, position} of readRlpBlocks(createReadStream(join(CONFORMANCE, "chain.rlp"))))
    if (position >= 0) blocks.push(bytes);
  const genesis = parseGenesis(readFileSync(join(CONFORMANCE, "genesis.json"), "utf8"));
  const node = await ExecutedNode.execute(genesis, blocks);
  const folder = await mkdtemp(join(tmpdir(), "proofd-trace-"));
  t.after(() => rm(folder, {recursive: true}));
  const stores = await ComparedStores.create(folder);
  t.after(() => stores.close());
  const [block0, ...differences] = node.differences;
  assert.ok(block0);
  await stores.apply(block0, block0);
  const reader = new TraceReader();
  let compared = 0;
  for (let next = 1; next <= differences.length; ) {
    const {header} = differences[next - 1] as BlockDifference;
    const {number, timestamp = 0n} = header;
    if (!genesis.forks.isActive("spuriousDragon", {number, timestamp})) {
      await stores.apply(differences[next - 1] as BlockDifference, differences[next - 1] as BlockDifference);
      next++;
      continue;
    }
    const read = await reader.read(node, next, next + reader.maxBlocks - 1);
    assert.ok(read.length > 0);
    for (const block of read) {
      await stores.apply(differences[next++ - 1] as BlockDifference, await block.difference());
      compared++;
    }
  }
  assert.ok(compared > 30, `${compared} blocks were compared`);
});
