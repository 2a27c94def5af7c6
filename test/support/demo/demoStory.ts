/**
 * The demo chain from its first block to its last.
 *
 *   block      1   contracts are created
 *          2..13   ether for 720 new accounts
 *         14..20   tokens for 350 holders
 *        21..100   transfers of ether and tokens, and between them the events of events.ts
 */

import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeCall, encodeCreation, word} from "../../../demo/abi.ts";
import {
  BATCHER,
  Cast,
  CITIZENS,
  DEPLOYED,
  DISPERSER,
  FACTORY,
  HOLDERS,
  LEDGER,
  PIGGY_BANK,
  RESIDENTS,
  TOKEN,
} from "./cast.ts";
import {type DemoAccount, hashLabel, makeAddress} from "./demoAccount.ts";
import {balanceSlot, describeAddresses} from "./demoAddresses.ts";
import {DemoChain, type DemoTransaction, type DemoWithdrawal} from "./demoChain.ts";
import {makeGenesisText, oldLedger} from "./demoGenesis.ts";

const ETHER = 10n ** 18n;
const NOBODY = new Uint8Array(20);

class Events {
  constructor(
    readonly cast: Cast,
    private readonly chain: DemoChain,
  ) {}

  /** Sends the events of the current block, in addition to its transfers. */
  make(): void {
    EVENTS[this.chain.number]?.(this);
  }

  fillLedger(from: number, to: number, value: bigint, ledger: Uint8Array = this.cast.ledger): void {
    const input = encodeCall(LEDGER, "fill(uint256,uint256,uint256)", BigInt(from), BigInt(to), value);
    this.call(this.cast.deployer, ledger, input, {gasLimit: 10_000_000n});
  }

  clearLedger(from: number, to: number, ledger: Uint8Array = this.cast.ledger): void {
    const input = encodeCall(LEDGER, "clear(uint256,uint256)", BigInt(from), BigInt(to));
    this.call(this.cast.deployer, ledger, input, {gasLimit: 10_000_000n});
  }

  fillLedgerInVain(from: number, to: number): void {
    const input = encodeCall(LEDGER, "fillAndRevert(uint256,uint256,uint256)", BigInt(from), BigInt(to), 7n);
    this.call(this.cast.deployer, this.cast.ledger, input, {gasLimit: 10_000_000n, reverts: true});
  }

  makeVaults(): void {
    for (const note of [1n, 2n, 3n])
      this.call(this.cast.deployer, this.cast.factory, encodeCall(FACTORY, "make(uint256)", note), {
        value: ETHER,
        gasLimit: 500_000n,
      });
    const input = encodeCall(FACTORY, "makeAt(bytes32,uint256)", word(4n), 4n);
    this.call(this.cast.deployer, this.cast.factory, input, {value: ETHER, gasLimit: 500_000n});
  }

  /** Sends ether to an address before a contract is created there, which makes an account. */
  payEphemeral(salt: bigint): void {
    this.chain.send(this.cast.resident(0), {to: this.cast.ephemeral(salt), value: ETHER});
  }

  makeAndDestroy(salt: bigint): void {
    this.call(
      this.cast.resident(1),
      this.cast.factory,
      encodeCall(FACTORY, "makeAndDestroy(bytes32)", word(salt)),
      {gasLimit: 500_000n},
    );
  }

  fillPiggyBank(): void {
    for (const index of [2, 3, 4])
      this.chain.send(this.cast.resident(index), {to: this.cast.piggyBank, value: ETHER});
  }

  closePiggyBank(): void {
    this.call(
      this.cast.resident(2),
      this.cast.piggyBank,
      encodeCall(PIGGY_BANK, "close(address)", makeAddress("heir")),
    );
  }

  delegate(delegate: Uint8Array): void {
    const authority = this.cast.resident(5);
    const to = this.cast.resident(6).address;
    this.chain.send(this.cast.resident(7), {to, kind: "7702", delegations: [{authority, delegate}]});
  }

  sendBatch(): void {
    const authority = this.cast.resident(5);
    const transfer = encodeCall(TOKEN, "transfer(address,uint256)", makeAddress("batch"), ETHER);
    const calls = [1, 2].map(() => [this.cast.token, transfer]);
    this.call(authority, authority.address, encodeCall(BATCHER, "run((address,bytes)[])", calls), {
      gasLimit: 300_000n,
    });
  }

  approve(): void {
    const input = encodeCall(TOKEN, "approve(address,uint256)", this.cast.resident(11).address, 5n * ETHER);
    this.call(this.cast.resident(10), this.cast.token, input);
  }

  /** Uses the allowance up, which clears its slot. */
  spendAllowance(): void {
    const values = [this.cast.resident(10).address, this.cast.resident(12).address, 5n * ETHER];
    this.call(
      this.cast.resident(11),
      this.cast.token,
      encodeCall(TOKEN, "transferFrom(address,address,uint256)", ...values),
    );
  }

  overdraw(): void {
    const input = encodeCall(TOKEN, "transfer(address,uint256)", this.cast.resident(0).address, ETHER);
    this.call(this.cast.resident(RESIDENTS - 1), this.cast.token, input, {reverts: true});
  }

  private call(
    from: DemoAccount,
    to: Uint8Array,
    input: Uint8Array,
    extra: Omit<DemoTransaction, "to" | "input"> = {},
  ): void {
    this.chain.send(from, {to, input, ...extra});
  }
}

const EVENTS: Readonly<Record<number, (events: Events) => void>> = {
  22: events => events.fillLedger(0, 250, 1n),
  23: events => events.fillLedger(250, 500, 1n),
  24: events => events.fillLedger(500, 750, 1n),
  25: events => events.fillLedger(750, 1000, 1n),
  28: events => events.fillLedgerInVain(0, 20),
  30: events => events.makeVaults(),
  34: events => events.clearLedger(2, 3, oldLedger),
  35: events => {
    events.payEphemeral(1n);
    events.payEphemeral(2n);
  },
  40: events => events.clearLedger(100, 300),
  45: events => events.makeAndDestroy(1n),
  46: events => {
    events.makeAndDestroy(2n);
    events.payEphemeral(2n);
  },
  // There is no account at this address before or after.
  47: events => events.makeAndDestroy(3n),
  50: events => events.fillPiggyBank(),
  52: events => events.closePiggyBank(),
  54: events => events.approve(),
  56: events => events.overdraw(),
  60: events => events.spendAllowance(),
  62: events => events.delegate(events.cast.batcher),
  64: events => events.sendBatch(),
  70: events => events.fillLedger(150, 200, 9n),
  75: events => events.delegate(NOBODY),
  // Cleared and set again in one block, and the other way round.
  80: events => {
    events.clearLedger(0, 20);
    events.fillLedger(0, 10, 3n);
  },
  82: events => {
    events.fillLedger(10, 20, 4n);
    events.clearLedger(15, 20);
  },
};

class Dice {
  private state: Uint8Array;

  constructor(label: string) {
    this.state = hashLabel(label);
  }

  /** 0 <= result < sides. */
  roll(sides: number): number {
    this.state = keccak_256(this.state);
    return Buffer.from(this.state).readUInt32BE(0) % sides;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.roll(choices.length)] as T;
  }
}

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
