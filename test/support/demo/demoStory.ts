/**
 * The demo chain from its first block to its last.
 *
 *   block      1   contracts are created
 *          2..13   ether for 720 new accounts
 *         14..20   tokens for 350 holders
 *        21..100   transfers of ether and tokens, and between them the events of events.ts
 */
import {encodeCall, encodeCreation} from "../../../demo/abi.ts";
import {Cast, CITIZENS, DEPLOYED, DISPERSER, HOLDERS, RESIDENTS, TOKEN} from "./cast.ts";
import {makeAddress} from "./demoAccount.ts";
import {balanceSlot, describeAddresses} from "./demoAddresses.ts";
import {DemoChain, type DemoWithdrawal} from "./demoChain.ts";
import {makeGenesisText} from "./demoGenesis.ts";
import {Dice} from "./dice.ts";
import {Events} from "./events.ts";

export interface DemoFiles {
  readonly genesis: string;
  /** Blocks 1 to 100, as `geth export` writes them. */
  readonly chain: Uint8Array;
  /** JSON text. */
  readonly addresses: string;
}

const LAST_BLOCK = 100;
const CITIZENS_PER_BLOCK = 60;
const HOLDERS_PER_BLOCK = 50;
const BLOCKS_BETWEEN_WITHDRAWALS = 20;
const ETHER = 10n ** 18n;

export async function makeDemoFiles(): Promise<DemoFiles> {
  const cast = new Cast();
  const genesis = makeGenesisText([cast.deployer.address, ...cast.residents.map(({address}) => address)]);
  const chain = await DemoChain.create(genesis, makeAddress("miner"));
  await new DemoStory(cast, chain).tell();
  return {
    genesis,
    chain: new Uint8Array(Buffer.concat(chain.blocks)),
    addresses: describeAddresses(cast, LAST_BLOCK),
  };
}

class DemoStory {
  private readonly events: Events;
  private readonly dice = new Dice("transfers");
  private newcomers = 0;

  constructor(
    private readonly cast: Cast,
    private readonly chain: DemoChain,
  ) {
    this.events = new Events(cast, chain);
  }

  async tell(): Promise<void> {
    this.createContracts();
    await this.chain.seal();
    for (let first = 0; first < CITIZENS; first += CITIZENS_PER_BLOCK) {
      this.fund(this.cast.citizens.slice(first, first + CITIZENS_PER_BLOCK));
      await this.chain.seal();
    }
    for (let first = 0; first < HOLDERS; first += HOLDERS_PER_BLOCK) {
      this.airdrop(this.cast.holders.slice(first, first + HOLDERS_PER_BLOCK));
      await this.chain.seal();
    }
    while (this.chain.number <= LAST_BLOCK) {
      this.transferAround();
      this.events.make();
      await this.chain.seal(this.withdrawals());
    }
  }

  private createContracts(): void {
    for (const contract of DEPLOYED) {
      const supply = contract === TOKEN ? [1_000_000n * ETHER] : [];
      this.chain.send(this.cast.deployer, {input: encodeCreation(contract, ...supply), gasLimit: 2_000_000n});
    }
  }

  private fund(recipients: readonly Uint8Array[]): void {
    const input = encodeCall(DISPERSER, "disperse(address[])", recipients);
    this.chain.send(this.cast.deployer, {
      to: this.cast.disperser,
      value: BigInt(recipients.length) * ETHER,
      input,
      gasLimit: 4_000_000n,
    });
  }

  private airdrop(holders: readonly Uint8Array[]): void {
    const input = encodeCall(TOKEN, "airdrop(address[],uint256)", holders, 100n * ETHER);
    this.chain.send(this.cast.deployer, {to: this.cast.token, input, gasLimit: 4_000_000n});
  }

  private transferAround(): void {
    const isEven = this.chain.number % 2 === 0;
    for (const kind of isEven ? (["1559", "legacy"] as const) : (["1559", "2930"] as const)) {
      const from = this.cast.resident(this.dice.roll(HOLDERS / 2));
      const to = this.dice.pick(this.cast.holders);
      const amount = BigInt(1 + this.dice.roll(1000)) * 10n ** 15n;
      this.chain.send(from, {
        to: this.cast.token,
        input: encodeCall(TOKEN, "transfer(address,uint256)", to, amount),
        kind,
        accessList: kind === "2930" ? [{address: this.cast.token, slots: [balanceSlot(to)]}] : [],
      });
    }
    const payer = this.cast.resident(this.dice.roll(RESIDENTS));
    const value = BigInt(1 + this.dice.roll(1000)) * 10n ** 15n;
    this.chain.send(payer, {to: this.dice.pick(this.cast.citizens), value, kind: "legacy"});
    if (isEven) return;
    const founder = this.cast.resident(this.dice.roll(RESIDENTS));
    this.chain.send(founder, {to: makeAddress(`newcomer ${this.newcomers++}`), value: ETHER / 10n});
  }

  private withdrawals(): DemoWithdrawal[] {
    if (this.chain.number % BLOCKS_BETWEEN_WITHDRAWALS !== 0) return [];
    return [
      {address: makeAddress(`validator ${this.chain.number}`), amount: 32_000_000_000n},
      {address: this.dice.pick(this.cast.citizens), amount: 1_000_000n},
    ];
  }
}
