/**
 * A chain that a test makes block by block through the engine API, as a consensus client does:
 *
 *   transactions -> builder (a geth that nobody follows) -> payload -> newPayload, forkchoiceUpdated -> nodes that proofd follows
 *
 * The nodes learn of another branch as real ones do: its blocks are handed over beside those of the branch that they have, and
 * then the head is chosen.
 */
import {cp, writeFile} from "node:fs/promises";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {toHex} from "../../../storage/hex.ts";
import {createFullRules} from "../evm/fullRules.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import {EngineApi, type EngineFork, type Payload, type PayloadAttributes} from "../nodes/engineApi.ts";
import {GETH} from "../processes/clientKinds.ts";
import {type ClientKind, RealNode} from "../processes/realNode.ts";
import {waitUntil} from "../wait.ts";
import {
  BLOCK_SECONDS,
  ENGINE_CHAIN_ID,
  type ForkBlocks,
  GENESIS_SECONDS,
  makeEngineGenesis,
} from "./engineGenesis.ts";
import {PEOPLE, People, type Sent} from "./people.ts";
import {WorkFolder} from "./serviceChain.ts";

export interface BlockPlan {
  readonly transactions?: readonly Sent[];
  /** To this address, so many gwei. */
  readonly withdrawals?: readonly (readonly [address: string, gwei: number])[];
  readonly feeRecipient?: string;
  /** The builder takes the transactions from its pool, in its own order. Default: the block has them in the order given. */
  readonly isFromPool?: boolean;
}

interface Sealed {
  readonly payload: Payload;
  readonly attributes: PayloadAttributes;
  readonly fork: EngineFork;
  readonly nonces: readonly bigint[];
}

type Branch = readonly Sealed[];

const FEE_RECIPIENT = "0x00000000000000000000000000000000000c0ffe";
const MOST_TRIES = 1000;
/** geth 1.17 takes 129 blocks that follow the head it was told. */
const MOST_UNCHOSEN = 100;

export class EngineChain {
  /** Of the blocks after block 0. */
  private readonly blocks: Sealed[] = [];
  private readonly followed = new Map<RealNode, EngineApi>();
  private readonly people = new People(BigInt(ENGINE_CHAIN_ID));
  private readonly engine: EngineApi;
  /** Numbers of blocks; 0 is not said. */
  private safe = 0;
  private finalized = 0;
  private withdrawals = 0;
  private branch = 0;

  private constructor(
    readonly genesisPath: string,
    private readonly folder: WorkFolder,
    private readonly builder: RealNode,
    private readonly genesis: Genesis,
    private readonly block0: string,
  ) {
    this.engine = new EngineApi(builder.engineUrl, builder.secret);
  }

  /** @param alloc, fields - of block 0: further accounts, and header fields. @throws Error if there is no geth */
  static async create(
    forks: ForkBlocks,
    alloc: object = {},
    fields: Readonly<Record<string, string>> = {},
  ): Promise<EngineChain> {
    const folder = new WorkFolder();
    const text = makeEngineGenesis(forks, alloc, fields);
    const genesisPath = folder.file("genesis.json");
    await writeFile(genesisPath, text);
    // The builder is set back as deep as a test likes.
    const flags = ["--engine.maxreorgdepth", "0", "--maxpeers", "10"];
    const builder = await RealNode.start(GETH, {folder: folder.file("builder"), genesisPath, flags});
    const {hash} = await builder.request<{hash: string}>("eth_getBlockByNumber", "0x0", false);
    return new EngineChain(genesisPath, folder, builder, parseGenesis(text), hash);
  }

  file(name: string): string {
    return this.folder.file(name);
  }

  /** For a follower of these nodes with the store `name`. */
  flagsOf(name: string, source: string, ...urls: readonly string[]): string[] {
    const nodes = urls.flatMap(url => ["--l2", url]);
    return ["--db", this.file(name), "--genesis", this.genesisPath, "--source", source, ...nodes];
  }

  get height(): number {
    return this.blocks.length;
  }

  hashOf(number: number): string {
    return this.blocks[number - 1]?.payload.executionPayload.blockHash ?? this.block0;
  }

  /** Starts another node, which gets all blocks of now and later. */
  async addNode(flags: readonly string[] = [], kind: ClientKind = GETH): Promise<RealNode> {
    const node = await this.createNode(flags, kind);
    await this.tell(node);
    return node;
  }

  /** As `addNode`, with a copy of the builder's database instead of executing all blocks: for large states. */
  async copyNode(flags: readonly string[]): Promise<RealNode> {
    await this.builder.stop();
    await cp(this.file("builder"), this.nextFolder(), {recursive: true});
    await this.builder.restart();
    return this.addNode(flags);
  }

  /** Starts another node, which has block 0 only until `tell`. */
  async createNode(flags: readonly string[] = [], kind: ClientKind = GETH): Promise<RealNode> {
    const folder = this.nextFolder();
    const node = await RealNode.start(kind, {folder, genesisPath: this.genesisPath, flags});
    this.followed.set(node, new EngineApi(node.engineUrl, node.secret));
    return node;
  }

  async seal(plan: BlockPlan = {}): Promise<number> {
    await this.build(plan);
    await this.tellAll(this.height);
    return this.height;
  }

  /**
   * Replaces the newest `depth` blocks by these, or by none: the head falls. The nodes learn of it when the new branch is whole.
   *
   * @returns the replaced blocks
   */
  async reorganise(depth: number, plans: readonly BlockPlan[] = []): Promise<Branch> {
    const replaced = this.blocks.splice(this.height - depth);
    await this.setBack();
    this.branch++;
    for (const plan of plans) await this.build(plan);
    await this.tellAll(this.height - plans.length + 1);
    return replaced;
  }

  /** Replaces all blocks from the first of these on by blocks that `reorganise` or this has replaced. @returns the replaced blocks */
  async restore(branch: Branch): Promise<Branch> {
    const ancestor = Number(branch[0]?.payload.executionPayload.blockNumber) - 1;
    const replaced = this.blocks.splice(ancestor, Number.POSITIVE_INFINITY, ...branch);
    await this.setBack();
    await this.tellAll(ancestor + 1);
    return replaced;
  }

  async finalize(finalized: number, safe = finalized): Promise<void> {
    Object.assign(this, {finalized, safe});
    await this.tellAll(this.height + 1);
  }

  /** Hands a node the blocks from `first` to `last`, and chooses the head. Default: all. */
  async tell(node: RealNode, first = 1, last = this.height): Promise<void> {
    const engine = this.engineOf(node);
    for (const [position, {payload, attributes, fork}] of this.blocks.slice(first - 1, last).entries()) {
      await engine.give(payload, attributes, fork);
      if ((position + 1) % MOST_UNCHOSEN === 0)
        await engine.choose({head: payload.executionPayload.blockHash}, fork);
    }
    await engine.choose({head: this.hashOf(last), ...this.tags()}, this.forkOf(last));
  }

  /** Has a node download the blocks that it lacks from the builder: its head moves in jumps. @param node - with --maxpeers */
  async sync(node: RealNode): Promise<void> {
    const {enode} = await this.builder.request<{enode: string}>("admin_nodeInfo");
    await node.request("admin_addPeer", enode);
    await waitUntil("a node to have all blocks", () => this.announce(node));
  }

  /** Tells a node the newest block only. @returns false if it lacks blocks before it */
  async announce(node: RealNode): Promise<boolean> {
    const engine = this.engineOf(node);
    const {payload, attributes, fork} = this.blocks.at(-1) as Sealed;
    await engine.give(payload, attributes, fork);
    const {status} = await engine.offer({head: this.hashOf(this.height), ...this.tags()}, fork);
    return status.status === "VALID";
  }

  engineOf(node: RealNode): EngineApi {
    const engine = this.followed.get(node);
    if (engine === undefined) throw new Error("expected a node of this chain");
    return engine;
  }

  async stop(): Promise<void> {
    await Promise.all([this.builder, ...this.followed.keys()].map(node => node.stop()));
  }

  private nextFolder(): string {
    return this.file(`node${this.followed.size}`);
  }

  /** The builder and the nonces are those of the newest block. */
  private async setBack(): Promise<void> {
    await this.engine.choose({head: this.hashOf(this.height)}, this.forkOf(this.height));
    this.people.nonces.splice(0, PEOPLE.length, ...(this.blocks.at(-1)?.nonces ?? PEOPLE.map(() => 0n)));
  }

  private async tellAll(first: number): Promise<void> {
    for (const node of this.followed.keys()) await this.tell(node, first);
  }

  private tags(): {safe?: string; finalized?: string} {
    return {
      ...(this.safe > 0 && {safe: this.hashOf(this.safe)}),
      ...(this.finalized > 0 && {finalized: this.hashOf(this.finalized)}),
    };
  }

  private forkOf(number: number): EngineFork {
    const timestamp = BigInt(GENESIS_SECONDS + number * BLOCK_SECONDS);
    return this.genesis.forks.forkAt({number, timestamp, difficulty: 0n}) as EngineFork;
  }

  private async build(plan: BlockPlan): Promise<void> {
    const number = this.height + 1;
    const fork = this.forkOf(number);
    const common = createFullRules(this.genesis.forks);
    common.setHardfork(fork);
    const transactions = (plan.transactions ?? []).map(sent => this.people.sign(sent, common));
    const attributes = this.makeAttributes(number, fork, plan);
    const payload =
      plan.isFromPool === true
        ? await this.buildFromPool(transactions, attributes, fork)
        : await this.builder.request<Payload>(
            "testing_buildBlockV1",
            this.hashOf(number - 1),
            attributes,
            transactions,
            toHex(Buffer.from(`branch ${this.branch}`)),
          );
    await this.engine.give(payload, attributes, fork);
    await this.engine.choose({head: payload.executionPayload.blockHash}, fork);
    this.blocks.push({payload, attributes, fork, nonces: [...this.people.nonces]});
  }

  /** A block under way gets its transactions a moment after it began, so it is begun again until it has them. */
  private async buildFromPool(
    transactions: readonly string[],
    attributes: PayloadAttributes,
    fork: EngineFork,
  ): Promise<Payload> {
    for (const transaction of transactions) await this.builder.request("eth_sendRawTransaction", transaction);
    const head = this.hashOf(this.height);
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const prevRandao = numberWord(tries);
      const id = await this.engine.choose({head}, fork, {...attributes, prevRandao});
      const payload = await this.engine.getPayload(id as string, fork);
      if (payload.executionPayload.transactions.length === transactions.length) return payload;
    }
    throw new Error(`the builder takes fewer than ${transactions.length} transactions from its pool`);
  }

  private makeAttributes(number: number, fork: EngineFork, plan: BlockPlan): PayloadAttributes {
    return {
      timestamp: quantity(GENESIS_SECONDS + number * BLOCK_SECONDS),
      prevRandao: numberWord(number),
      suggestedFeeRecipient: plan.feeRecipient ?? FEE_RECIPIENT,
      withdrawals: (plan.withdrawals ?? []).map(([address, gwei]) => {
        const index = quantity(this.withdrawals++);
        return {index, validatorIndex: index, address, amount: quantity(gwei)};
      }),
      ...(fork !== "shanghai" && {parentBeaconBlockRoot: numberWord(7_000_000 + number)}),
    };
  }
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

function numberWord(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
