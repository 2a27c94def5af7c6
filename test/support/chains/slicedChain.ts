/** A chain with contracts for slices, a geth that keeps all states, and one that keeps those of the newest 128 blocks. */
import assert from "node:assert/strict";
import {generateAddress} from "@ethereumjs/util";
import {toHex} from "../../../storage/hex.ts";
import {waitForHash} from "../http/nodeFollower.ts";
import type {OwnService} from "../http/ownService.ts";
import type {RealNode} from "../processes/realNode.ts";
import {type BlockPlan, EngineChain} from "./engineChain.ts";
import type {ForkBlocks} from "./engineGenesis.ts";
import {PEOPLE, type Sent} from "./people.ts";

/** Stores pairs of a slot and a value from its calldata. */
const STORER = "0x60005b803611600b5700005b8060200135813555604001600256";
/** The same, and removes itself if it is called without calldata. */
const DOOMED_STORER = "0x3660065733ff5b60005b80361160125700005b8060200135813555604001600956";
/** Many slots from the start, few, and none. */
export const [MANY, FEW, NONE] = ["a1", "a2", "a3"].map(byte => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
];
/** Also in the state, but in no slice. */
export const OTHER = `0x${"a4".repeat(20)}`;
export const DOOMED = `0x${"a5".repeat(20)}`;
const SLOTS = {[MANY]: 1500, [FEW]: 30, [NONE]: 0, [OTHER]: 10, [DOOMED]: 5};
const ACCOUNTS = 2000;

export function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

export function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Of the first contract that the second of PEOPLE creates. */
export const CREATED = toHex(
  generateAddress(Buffer.from((PEOPLE[1] as string).slice(2), "hex"), new Uint8Array(0)),
);
/** Creates it, with 9 at slot 3. If it is called, it stores 8 at slot 4. */
export const CREATION = Buffer.from("6009600355600680601060003960 00f3600860045500".replace(" ", ""), "hex");

export class SlicedChain {
  /** Contracts and slots that blocks wrote since this was cleared. */
  readonly written = new Set<string>();
  private seed = 1;

  private constructor(
    readonly chain: EngineChain,
    readonly archive: RealNode,
    readonly pruned: RealNode,
  ) {}

  /** @param blocks - of the chain at the start, all of them final */
  static async create(forks: ForkBlocks, blocks: number): Promise<SlicedChain> {
    const chain = await EngineChain.create(forks, makeAlloc());
    const archive = await chain.addNode(["--state.scheme", "hash"]);
    const pruned = await chain.addNode(["--gcmode", "full"]);
    const sliced = new SlicedChain(chain, archive, pruned);
    for (let block = 0; block < blocks; block++) await chain.seal(sliced.planBlock());
    await chain.finalize(blocks);
    sliced.written.clear();
    return sliced;
  }

  get height(): number {
    return this.chain.height;
  }

  /** Below `below`, the same in each run. */
  random(below: number): number {
    this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((this.seed / 0x80000000) * below);
  }

  store(to: string, pairs: readonly (readonly [slot: number, value: number])[]): Sent {
    for (const [slot] of pairs) this.written.add(`${to} ${word(slot)}`);
    const data = pairs.flat().map(value => word(value).slice(2));
    return {to, data: Buffer.from(data.join(""), "hex")};
  }

  /** Changes, deletions and new slots, with other accounts around them; or none. */
  planBlock(): BlockPlan {
    const transactions: Sent[] = [];
    for (let i = 0; i < 4; i++) transactions.push({to: accountOf(this.random(ACCOUNTS)), value: 1n});
    const pairs = (count: number, slots: number, values: number): [number, number][] =>
      Array.from({length: count}, () => [this.random(slots) + 1, this.random(values) * this.random(9999)]);
    if (this.random(3) === 0) transactions.push(this.store(MANY, pairs(5, 1600, 3)));
    if (this.random(3) === 0) transactions.push(this.store(FEW, pairs(3, 40, 2)));
    if (this.random(4) === 0) transactions.push(this.store(NONE, pairs(1, 12, 2)));
    if (this.random(4) === 0)
      transactions.push(this.store(OTHER, [[this.random(12), 1 + this.random(9999)]]));
    return {transactions};
  }

  /** Seals blocks, and makes all final. */
  async seal(blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i++) await this.chain.seal(this.planBlock());
    await this.chain.finalize(this.height);
  }

  /** Seals blocks that the service gets, and then as many other blocks and one more in place of the newest `depth`. */
  async replace(daemon: OwnService, depth: number, sealed = depth): Promise<void> {
    const before = [...this.written];
    for (let i = 0; i < sealed; i++) await this.chain.seal(this.planBlock());
    await this.waitFor(daemon);
    // What only the replaced blocks wrote is not written.
    if (sealed >= depth) this.written.clear();
    for (const one of before) this.written.add(one);
    await this.chain.reorganise(
      depth,
      Array.from({length: depth + 1}, () => this.planBlock()),
    );
    await this.waitFor(daemon);
  }

  waitFor(daemon: OwnService): Promise<void> {
    return waitForHash(daemon, this.height, this.chain.hashOf(this.height));
  }

  /** Waits until the service has the newest block, and it is final. */
  async follow(daemon: OwnService): Promise<void> {
    const {chain, height} = this;
    await chain.finalize(height);
    await this.waitFor(daemon);
    await daemon.until("the newest block to be final", async () => {
      return (await daemon.call("chain_getStateRoot", [quantity(height)])).result?.finalized === true;
    });
  }

  /** Compares a proof with the archive node's. @returns why the service refused it */
  async compare(
    daemon: OwnService,
    block: number,
    contract: string,
    slots: readonly string[],
  ): Promise<string | undefined> {
    const params = [contract, slots, quantity(block)];
    const {result, error} = await daemon.call("eth_getProof", params);
    if (error !== undefined) return error.message;
    assert.deepEqual(result, await this.archive.request("eth_getProof", ...params), `${params}`);
    return undefined;
  }

  /** @param written - slots that must be provable. @returns how many of them were not refused */
  async compareRandomly(
    daemon: OwnService,
    times: number,
    from: number,
    to = this.height,
    written: ReadonlySet<string> = this.written,
  ): Promise<number> {
    const contracts = [MANY, FEW, NONE];
    let proved = 0;
    for (let i = 0; i < times; i++) {
      const contract = contracts[this.random(3)] as string;
      const slot = word(this.random(contract === MANY ? 1700 : 45));
      const refusal = await this.compare(daemon, from + this.random(to - from + 1), contract, [slot]);
      if (written.has(`${contract} ${slot}`)) assert.equal(refusal, undefined);
      if (refusal === undefined) proved++;
    }
    return proved;
  }
}

function makeAlloc(): object {
  const contracts = Object.entries(SLOTS).map(([address, slots]) => [
    address,
    {
      balance: "0x0",
      nonce: "0x1",
      code: address === DOOMED ? DOOMED_STORER : STORER,
      storage: Object.fromEntries(Array.from({length: slots}, (_, i) => [word(i + 1), word(i + 7)])),
    },
  ]);
  const people = Array.from({length: ACCOUNTS}, (_, i) => [accountOf(i), {balance: "0x1"}]);
  return Object.fromEntries([...contracts, ...people]);
}

function accountOf(position: number): string {
  return `0x${(position + 1_000_000).toString(16).padStart(40, "0")}`;
}
