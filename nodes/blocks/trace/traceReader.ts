/**
 * Reads the changes of blocks from traces, without executing them.
 *
 *   headers and transactions   eth_getBlockByNumber           hash and link checked
 *   what changed               traces (traceMethod.ts)        one per transaction, by its hash
 *   the state after it         eth_getBalance, ...            what traces do not have (touchedBlock.ts)
 *   header of the last block   eth_getBlockByNumber           still the same: no reorganization in between
 *
 * What is read in addition:
 *
 *   minimal    what traces do not have, and new code. Only if the state root is checked, which shows if that is enough
 *   full       nonces and balances of all accounts in traces, and of senders, recipients and signers of authorizations
 *   expanded   everything that transactions touched, from prestateTracer
 */
import {toHex} from "../../../storage/hex.ts";
import {parseAddress, parseObject} from "../../rpc/answerValues.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../rpc/node.ts";
import type {BlockReader, NodeBlock} from "../blockReader.ts";
import {hexQuantity, readLinkedBlocks} from "../linkedBlocks.ts";
import type {TransactionTrace} from "./accountTrace.ts";
import {
  type BlockBesidesTraces,
  parseBlockBesidesTraces,
  type RecoverAuthority,
} from "./blockBesidesTraces.ts";
import {PRESTATE_OPTIONS, parsePrestateTraces, readMinimalTraces, readTouched} from "./prestateTrace.ts";
import {parseStateDiffTraces, STATE_DIFF_KINDS} from "./stateDiffTrace.ts";
import type {StateQuery} from "./touchedAccount.ts";
import {TouchedBlock} from "./touchedBlock.ts";
import {type TraceMethod, TraceMethods} from "./traceMethod.ts";
import {
  findModified,
  findSystemContracts,
  listUntracedWrites,
  RARE_ACCOUNTS,
  type SystemContract,
} from "./untracedWrites.ts";

const PRESTATE = "debug_traceBlockByNumber";
const STATE_DIFF = "trace_replayBlockTransactions";
const STATE_HINT =
  ". A node that is no archive node has the states of its newest blocks only; --source execute needs none";
/** Bounds memory: the traces of each block may be as long as the longest response. */
const MAX_BLOCKS = 8;
/** How many blocks are read with `full` after one for which `minimal` was not enough. */
const FULL_BLOCKS = 1000;
/** Concurrent traces, one core of the node each. */
const TRACES_AT_ONCE = 2;

type Depth = "minimal" | "full" | "expanded";

export class TraceReader implements BlockReader {
  readonly name = "trace";
  readonly maxBlocks = MAX_BLOCKS;
  private readonly methods = new TraceMethods();
  private readonly needsCode = new Set<string>();
  private fullUntil = -1;

  /** @param isChecked - each block's state root will be compared. @param onCodeNeeded - with a node's name, and why */
  constructor(
    private readonly recoverAuthority: RecoverAuthority,
    private readonly isChecked: () => boolean,
    private readonly onCodeNeeded: (node: string, why: string) => void,
  ) {}

  read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]> {
    return this.readBlocks(node, from, to, this.isChecked() && from > this.fullUntil ? "minimal" : "full");
  }

  /** stateDiff has no more detail than `full`. */
  readonly reread = async (node: Node, number: number): Promise<NodeBlock | undefined> => {
    const isPrestate = (await this.methods.of(node)) === "prestate";
    if (!isPrestate && !this.isChecked()) return undefined;
    this.fullUntil = number + FULL_BLOCKS;
    return (await this.readBlocks(node, number, number, isPrestate ? "expanded" : "full"))[0];
  };

  private async readBlocks(
    node: Node,
    from: number,
    to: number,
    depth: Depth,
  ): Promise<readonly NodeBlock[]> {
    const isFull = depth !== "minimal";
    const recover = isFull ? this.recoverAuthority : undefined;
    const blocks = await readLinkedBlocks(node, from, to, isFull, (block, header) =>
      parseBlockBesidesTraces(block, header, recover),
    );
    const last = blocks.at(-1);
    if (last === undefined) return [];
    try {
      const method = await this.methods.of(node);
      const contracts = await findSystemContracts(node, hexQuantity(last.header.number));
      const touched: TouchedBlock[] = [];
      for (let at = 0; at < blocks.length; at += TRACES_AT_ONCE) {
        const some = blocks.slice(at, at + TRACES_AT_ONCE);
        const read = some.map(block => this.readTrace(node, method, block, contracts, depth));
        touched.push(...(await Promise.all(read)));
      }
      const states = touched.flatMap(block => block.queryState());
      await ask(node, states);
      const codes = touched.flatMap(block => block.queryCodes());
      await ask(node, codes);
      await checkUnchanged(node, last);
      return touched.map(block => toNodeBlock(block, node.name));
    } catch (error) {
      // A node refuses to trace a block that a reorganization removed. A retry sees the new block.
      if (!(error instanceof NodeRefusal)) throw error;
      await checkUnchanged(node, last);
      const isOfState = /\bstate\b|prune/i.test(error.message);
      throw error.about(from, last.header.number, isOfState ? STATE_HINT : "");
    }
  }

  private async readTrace(
    node: Node,
    method: TraceMethod,
    block: BlockBesidesTraces,
    contracts: readonly SystemContract[],
    depth: Depth,
  ): Promise<TouchedBlock> {
    const {header, transactions, uncles, addresses} = block;
    const at = hexQuantity(header.number);
    const paid = new Set(addresses);
    for (let position = 0; position < uncles; position++) {
      const params = [at, hexQuantity(position)];
      const where = `block ${header.number}: uncle ${position}`;
      const uncle = parseObject(await node.request("eth_getUncleByBlockNumberAndIndex", params), where);
      paid.add(parseAddress(uncle.miner, `${where}: miner`));
    }
    const traces =
      transactions.length === 0 ? [] : await this.askTraces(node, method, header.number, depth === "minimal");
    const untraced = listUntracedWrites(block, contracts);
    const touched = new TouchedBlock({...block, addresses: paid}, traces, untraced, depth === "minimal");
    if (depth !== "minimal") for (const address of RARE_ACCOUNTS) touched.readBack(address, []);
    if (depth === "expanded") {
      for (const address of await findModified(node, at)) touched.readBack(address, []);
      // geth's diffs lack an account that the transaction created if a call that destroys it was reverted.
      const ask = (options: unknown): Promise<unknown> => node.request(PRESTATE, [at, options]);
      for (const [address, slots] of await readTouched(ask, `${PRESTATE} of block ${header.number}`))
        touched.readBack(address, slots);
    }
    return touched;
  }

  private async askTraces(
    node: Node,
    method: TraceMethod,
    number: number,
    isMinimal: boolean,
  ): Promise<TransactionTrace[]> {
    const name = method === "prestate" ? PRESTATE : STATE_DIFF;
    const where = `${name} of block ${number}`;
    const ask = (options: unknown): Promise<unknown> => node.request(name, [hexQuantity(number), options]);
    if (method === "stateDiff") return parseStateDiffTraces(await ask(STATE_DIFF_KINDS), where);
    if (!isMinimal || this.needsCode.has(node.name))
      return parsePrestateTraces(await ask(PRESTATE_OPTIONS), where);
    return readMinimalTraces(ask, where, why => {
      if (!this.needsCode.has(node.name)) this.onCodeNeeded(node.name, why);
      this.needsCode.add(node.name);
    });
  }
}

async function ask(node: Node, queries: readonly StateQuery[]): Promise<void> {
  if (queries.length === 0) return;
  const answers = await node.requestAll(queries.map(({call}) => call));
  for (const [position, {take}] of queries.entries()) take(answers[position]);
}

async function checkUnchanged(node: Node, {header}: BlockBesidesTraces): Promise<void> {
  const {number, hash} = header;
  const answer = await node.request("eth_getBlockByNumber", [hexQuantity(number), false]);
  const now = (answer ?? undefined) === undefined ? undefined : parseObject(answer, `block ${number}`).hash;
  if (now !== toHex(hash))
    throw new NodeFailure(`block ${number} was replaced while it was read: the chain was reorganized`);
}

function toNodeBlock(touched: TouchedBlock, node: string): NodeBlock {
  const {header} = touched.block;
  const {difference, bytes} = touched.toDifference();
  return {
    number: header.number,
    hash: header.hash,
    parentHash: header.parentHash,
    origin: `the trace of ${node}`,
    bytes,
    difference: async () => difference,
  };
}
