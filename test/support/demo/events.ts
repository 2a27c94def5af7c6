/**
 * What happens once on the demo chain: every kind of change that a proof can show.
 */
import {encodeCall, word} from "../../../demo/abi.ts";
import {BATCHER, type Cast, FACTORY, LEDGER, PIGGY_BANK, RESIDENTS, TOKEN} from "./cast.ts";
import {type DemoAccount, makeAddress} from "./demoAccount.ts";
import type {DemoChain, DemoTransaction} from "./demoChain.ts";
import {oldLedger} from "./demoGenesis.ts";

const ETHER = 10n ** 18n;
const NOBODY = new Uint8Array(20);

export class Events {
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
