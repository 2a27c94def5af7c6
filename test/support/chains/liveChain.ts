/**
 * A chain that a real node makes while it is followed: contracts that make others, transfers, slots that are set and set again.
 *
 * Every fork up to osaka is on from block 0. Anvil's state roots are those of the rules only while no account is deleted and no
 * slot is cleared (docs/decisions.md), so nothing of that kind happens here.
 */
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {word} from "../../../client/hash/hashSuites.ts";
import {encodeCall} from "../../../demo/abi.ts";
import {toHex} from "../../../storage/hex.ts";
import {Cast, DEPLOYED, encodeCreation, FACTORY, LEDGER, PIGGY_BANK, TOKEN} from "../demo/cast.ts";
import {type DemoAccount, makeAddress} from "../demo/demoAccount.ts";
import {balanceSlot} from "../demo/demoAddresses.ts";
import {type DemoTransaction, GAS_LIMIT, signTransaction} from "../demo/demoChain.ts";
import {DEMO_CHAIN_ID, makeGenesisText} from "../demo/demoGenesis.ts";
import {createFullRules} from "../evm/fullRules.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import {Anvil} from "../processes/anvil.ts";
import {makeAnvilState} from "./anvilState.ts";

const FUNDED = 8;
const ETHER = 10n ** 18n;
/** 0 to this one, of the ledger. */
const LEDGER_SLOTS = 24;

interface LiveBlock {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly stateRoot: string;
}

export class LiveChain {
  readonly genesisPath: string;
  /** Replaced by `restart`. */
  anvil: Anvil;
  private readonly statePath: string;
  private readonly cast: Cast;
  private readonly common;
  private round = 0;

  private constructor(anvil: Anvil, genesisPath: string, statePath: string, cast: Cast, genesis: string) {
    this.anvil = anvil;
    this.genesisPath = genesisPath;
    this.statePath = statePath;
    this.cast = cast;
    const {forks, timestamp} = parseGenesis(genesis);
    this.common = createFullRules(forks);
    this.common.setHardfork(forks.forkAt({number: 1, timestamp, difficulty: 0n}));
  }

  /** @param folder - an empty one. @returns the chain with its contracts in block 1, or a text that says why there is no anvil */
  static async create(folder: string): Promise<LiveChain | string> {
    const cast = new Cast();
    const senders = [cast.deployer, ...cast.residents.slice(0, FUNDED)];
    const genesis = makeLiveGenesis(senders.map(({address}) => address));
    const genesisPath = join(folder, "live-genesis.json");
    const statePath = join(folder, "live-state.json");
    await writeFile(genesisPath, genesis);
    await writeFile(statePath, await makeAnvilState(genesis));
    const anvil = await Anvil.start([...FLAGS, "--load-state", statePath]);
    if (typeof anvil === "string") return anvil;
    const chain = new LiveChain(anvil, genesisPath, statePath, cast, genesis);
    await chain.deploy();
    return chain;
  }

  /** Its accounts and slots that the traffic touches, as the node can be asked for them. */
  readonly touched = new Map<string, Set<string>>();

  /** Mines `count` blocks with transactions. @returns the newest block's number */
  async grow(count: number): Promise<number> {
    for (let i = 0; i < count; i++) await this.sealRound(this.round++);
    return this.height();
  }

  async height(): Promise<number> {
    return Number(await this.anvil.request<string>("eth_blockNumber"));
  }

  async block(number: number | "latest"): Promise<LiveBlock> {
    const tag = number === "latest" ? number : `0x${number.toString(16)}`;
    const {
      hash,
      parentHash,
      stateRoot,
      number: text,
    } = await this.anvil.request<LiveBlock & {readonly number: unknown}>("eth_getBlockByNumber", tag, false);
    return {number: Number(text), hash, parentHash, stateRoot};
  }

  /** Another branch of the same length: the newest `depth` blocks are replaced, and `more` come after them. */
  async reorganise(depth: number, more: number): Promise<number> {
    await this.cut(depth);
    return this.grow(depth + more);
  }

  async cut(depth: number): Promise<void> {
    await this.anvil.request("anvil_rollback", depth);
    await this.readNonces();
  }

  stop(): Promise<void> {
    return this.anvil.stop();
  }

  /** Starts the node again on its port, with its blocks. @param between - runs while there is no node */
  async restart(between: () => Promise<void> = async () => {}): Promise<void> {
    this.anvil = await this.anvil.restart(this.statePath, FLAGS, between);
  }

  async copy(): Promise<Anvil> {
    await writeFile(this.statePath, JSON.stringify(await this.anvil.dumpState()));
    const anvil = await Anvil.start([...FLAGS, "--load-state", this.statePath]);
    if (typeof anvil === "string") throw new Error(anvil);
    return anvil;
  }

  private async deploy(): Promise<void> {
    for (const contract of DEPLOYED) {
      const supply = contract === TOKEN ? [1_000_000n * ETHER] : [];
      await this.send(this.cast.deployer, {input: encodeCreation(contract, ...supply), gasLimit: 3_000_000n});
    }
    await this.seal();
  }

  /** Each kind of change comes again every few rounds. */
  private async sealRound(round: number): Promise<void> {
    const {cast} = this;
    const newcomer = makeAddress(`live ${round}`);
    const sender = cast.resident(round % FUNDED);
    await this.send(sender, {to: newcomer, value: ETHER / 1000n, kind: "legacy"});
    this.touch(newcomer);
    const holder = makeAddress(`live holder ${round % 5}`);
    await this.send(cast.deployer, {
      to: cast.token,
      input: encodeCall(TOKEN, "transfer(address,uint256)", holder, BigInt(1 + round)),
    });
    this.touch(cast.token, toHex(balanceSlot(holder)));
    const from = BigInt(round % LEDGER_SLOTS);
    const to = from + 3n;
    const input = encodeCall(LEDGER, "fill(uint256,uint256,uint256)", from, to, BigInt(round + 1));
    await this.send(sender, {to: cast.ledger, input, kind: "2930", accessList: [NOBODY]});
    for (let slot = from; slot < to; slot++) this.touch(cast.ledger, toHex(word(slot)));
    if (round % 4 === 2)
      await this.send(sender, {
        to: cast.factory,
        value: 7n,
        input: encodeCall(FACTORY, "make(uint256)", BigInt(round)),
      });
    if (round % 4 === 3) {
      await this.send(sender, {to: cast.piggyBank, value: 9n});
      await this.send(sender, {
        to: cast.piggyBank,
        input: encodeCall(PIGGY_BANK, "close(address)", newcomer),
      });
    }
    this.touch(cast.factory, toHex(word(0n)), toHex(word(1n)));
    this.touch(cast.piggyBank, toHex(word(0n)));
    this.touch(sender.address);
    await this.seal();
  }

  private touch(address: Uint8Array, ...slots: readonly string[]): void {
    const name = toHex(address);
    const known = this.touched.get(name) ?? new Set();
    for (const slot of slots) known.add(slot);
    this.touched.set(name, known);
  }

  private async send(from: DemoAccount, transaction: DemoTransaction): Promise<void> {
    const signed = signTransaction(this.common, from, {gasLimit: 1_000_000n, ...transaction});
    await this.anvil.request("eth_sendRawTransaction", toHex(signed.serialize()));
  }

  private async seal(): Promise<void> {
    await this.anvil.request("evm_mine");
  }

  /** After blocks were taken back, the next nonces are lower. */
  private async readNonces(): Promise<void> {
    for (const account of [this.cast.deployer, ...this.cast.residents.slice(0, FUNDED)])
      account.nonce = BigInt(
        await this.anvil.request<string>("eth_getTransactionCount", toHex(account.address), "latest"),
      );
  }
}

const FLAGS = [
  ..."--accounts 0 --no-mining --hardfork osaka --disable-default-create2-deployer".split(" "),
  ...["--chain-id", String(DEMO_CHAIN_ID), "--gas-limit", String(GAS_LIMIT)],
];
/** EIP-4788. */
const BEACON_ROOTS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
const NOBODY = {address: new Uint8Array(20).fill(0x12), slots: [new Uint8Array(32).fill(0x34)]};

/** Anvil never calls EIP-4788's contract, so it is not there. Without code the rules write nothing either. */
function makeLiveGenesis(funded: readonly Uint8Array[]): string {
  const {alloc, ...fields} = JSON.parse(makeGenesisText(funded));
  const {[BEACON_ROOTS]: _beaconRoots, ...others} = alloc;
  return JSON.stringify({...fields, alloc: others});
}
