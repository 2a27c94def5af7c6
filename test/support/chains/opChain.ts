/**
 * A chain of the OP stack that a test makes block by block through the engine API of a real op-geth, as op-node does:
 *
 *   what layer 1 says, deposits, transactions -> payload attributes -> payload -> newPayload, forkchoiceUpdated
 *
 * It begins with a genesis file of the OP stack's registry (opGenesis.ts), under regolith.
 */
import {writeFile} from "node:fs/promises";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {toHex} from "../../../storage/hex.ts";
import {createFullRules} from "../evm/fullRules.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import {EngineApi, type EngineFork, type PayloadAttributes} from "../nodes/engineApi.ts";
import {OP_GETH} from "../processes/clientKinds.ts";
import {RealNode} from "../processes/realNode.ts";
import {type Deposit, describeLayer1, encodeDeposit, number, upgradeToIsthmus} from "./opDeposits.ts";
import {makeOpGenesis, OP_CHAIN_ID, type OpForkBlocks, timeOf} from "./opGenesis.ts";
import {PEOPLE, People, type Sent} from "./people.ts";
import {WorkFolder} from "./serviceChain.ts";

export interface OpPlan {
  readonly deposits?: readonly Deposit[];
  readonly transactions?: readonly Sent[];
}

/** What op-geth takes besides Ethereum's attributes. */
interface OpAttributes extends PayloadAttributes {
  readonly transactions: readonly string[];
  readonly noTxPool: true;
  readonly gasLimit: string;
  /** From holocene on: denominator and elasticity, 4 bytes each; zeros: as they are. */
  readonly eip1559Params?: string;
  /** From jovian on. Not a 0x quantity. */
  readonly minBaseFee?: number;
}

interface Sealed {
  readonly hash: string;
  readonly nonces: readonly bigint[];
}

const SEQUENCER_VAULT = "0x4200000000000000000000000000000000000011";
const GAS_LIMIT = 60_000_000;
/** Every so many blocks the parameters of the base fee change. */
const FEE_CHANGE = 5;

export class OpChain {
  /** By number. */
  private readonly blocks: Sealed[];
  private readonly people = new People(BigInt(OP_CHAIN_ID));
  private readonly engine: EngineApi;
  private finalized = 0;
  private deposits = 0;

  private constructor(
    readonly genesisPath: string,
    readonly node: RealNode,
    private readonly forks: OpForkBlocks,
    private readonly folder: WorkFolder,
    private readonly genesis: Genesis,
    block0: string,
  ) {
    this.engine = new EngineApi(node.engineUrl, node.secret);
    this.blocks = [{hash: block0, nonces: [...this.people.nonces]}];
  }

  /** @throws Error if there is no op-geth */
  static async create(forks: OpForkBlocks): Promise<OpChain> {
    const folder = new WorkFolder();
    const text = makeOpGenesis(forks);
    const genesisPath = folder.file("genesis.json");
    await writeFile(genesisPath, text);
    const flags = ["--state.scheme", "hash"];
    const node = await RealNode.start(OP_GETH, {folder: folder.file("node"), genesisPath, flags});
    const {hash} = await node.request<{hash: string}>("eth_getBlockByNumber", "0x0", false);
    return new OpChain(genesisPath, node, forks, folder, parseGenesis(text, false), hash);
  }

  file(name: string): string {
    return this.folder.file(name);
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  hashOf(block: number): string {
    return (this.blocks[block] as Sealed).hash;
  }

  /** @throws Error if the block lacks one of the transactions */
  async seal({deposits = [], transactions = []}: OpPlan = {}): Promise<void> {
    const block = this.height + 1;
    const fork = this.forkOf(block);
    const common = createFullRules(this.genesis.forks);
    common.setHardfork(fork);
    const forced = [
      describeLayer1(block, this.forks),
      ...(block === this.forks.isthmus ? upgradeToIsthmus() : []),
      ...deposits,
    ];
    // They count as transactions of their senders.
    for (const {from} of deposits) this.people.noteNonce(from);
    const all = [
      ...forced.map(deposit => encodeDeposit(deposit, this.deposits++)),
      ...transactions.map(sent => this.people.sign(sent, common)),
    ];
    const attributes = this.makeAttributes(block, all);
    const id = await this.engine.choose({head: this.hashOf(block - 1)}, fork, attributes);
    const payload = await this.engine.getPayload(String(id), fork);
    const {blockHash: hash, transactions: taken} = payload.executionPayload;
    if (taken.length !== all.length)
      throw new Error(`block ${block}: expected ${all.length} transactions, got ${taken.length}`);
    await this.engine.give(payload, attributes, fork);
    this.blocks.push({hash, nonces: [...this.people.nonces]});
    await this.choose();
  }

  /** Replaces the newest `depth` blocks by these. */
  async reorganise(depth: number, plans: readonly OpPlan[]): Promise<void> {
    this.blocks.splice(this.blocks.length - depth);
    this.people.nonces.splice(0, PEOPLE.length, ...(this.blocks.at(-1) as Sealed).nonces);
    await this.choose();
    for (const plan of plans) await this.seal(plan);
  }

  async finalize(block: number): Promise<void> {
    this.finalized = block;
    await this.choose();
  }

  /** A transaction that is in no block. @returns what eth_sendRawTransaction takes */
  sign(sent: Sent): string {
    const common = createFullRules(this.genesis.forks);
    common.setHardfork(this.forkOf(this.height));
    const nonces = [...this.people.nonces];
    const transaction = this.people.sign(sent, common);
    this.people.nonces.splice(0, nonces.length, ...nonces);
    return transaction;
  }

  stop(): Promise<void> {
    return this.node.stop();
  }

  private async choose(): Promise<void> {
    const {finalized, height} = this;
    const tag = finalized === 0 ? {} : {safe: this.hashOf(finalized), finalized: this.hashOf(finalized)};
    await this.engine.choose({head: this.hashOf(height), ...tag}, this.forkOf(height));
  }

  /** Ethereum's. */
  private forkOf(block: number): EngineFork {
    const moment = {number: block, timestamp: BigInt(timeOf(block)), difficulty: 0n};
    return this.genesis.forks.forkAt(moment) as EngineFork;
  }

  private makeAttributes(block: number, transactions: readonly string[]): OpAttributes {
    const {canyon, ecotone, holocene, jovian} = this.forks;
    const fees = [number(block % FEE_CHANGE === 0 ? 250 : 0, 4), number(block % FEE_CHANGE === 0 ? 6 : 0, 4)];
    return {
      timestamp: `0x${timeOf(block).toString(16)}`,
      prevRandao: toHex(number(block, 32)),
      suggestedFeeRecipient: SEQUENCER_VAULT,
      ...(block >= canyon && {withdrawals: []}),
      ...(block >= ecotone && {parentBeaconBlockRoot: toHex(number(7_000_000 + block, 32))}),
      ...{transactions, noTxPool: true, gasLimit: `0x${GAS_LIMIT.toString(16)}`},
      ...(block >= holocene && {eip1559Params: toHex(Buffer.concat(fees))}),
      ...(block >= jovian && {minBaseFee: block % 2 === 0 ? 100 : 0}),
    };
  }
}
