/**
 * The demo chain from its first block to its last.
 *
 *   block      1   contracts are created
 *          2..13   ether for 720 new accounts
 *         14..20   tokens for 350 holders
 *        21..100   transfers of ether and tokens, and between them the events of createEvents
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {word} from "../../../client/hash/hashSuites.ts";
import {encodeCall} from "../../../demo/abi.ts";
import {
  BATCHER,
  Cast,
  CITIZENS,
  DEPLOYED,
  DISPERSER,
  encodeCreation,
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

/** What happens in a block besides its transfers. */
function createEvents(cast: Cast, chain: DemoChain): Readonly<Record<number, () => void>> {
  const {deployer, factory, token, ledger} = cast;
  const call = (
    from: DemoAccount,
    to: Uint8Array,
    input: Uint8Array,
    extra: Omit<DemoTransaction, "to" | "input"> = {},
  ): void => chain.send(from, {to, input, ...extra});
  const callLedger = (
    signature: string,
    values: readonly (number | bigint)[],
    to = ledger,
    reverts = false,
  ) =>
    call(deployer, to, encodeCall(LEDGER, signature, ...values.map(BigInt)), {
      gasLimit: 10_000_000n,
      reverts,
    });
  const fill = (from: number, to: number, value: number) =>
    callLedger("fill(uint256,uint256,uint256)", [from, to, value]);
  const clear = (from: number, to: number, of = ledger) =>
    callLedger("clear(uint256,uint256)", [from, to], of);
  /** Before a contract is created at an address, ether makes an account there. */
  const payEphemeral = (salt: bigint) =>
    chain.send(cast.resident(0), {to: cast.ephemeral(salt), value: ETHER});
  const makeAndDestroy = (salt: bigint) => {
    const input = encodeCall(FACTORY, "makeAndDestroy(bytes32)", word(salt));
    call(cast.resident(1), factory, input, {gasLimit: 500_000n});
  };
  const delegate = (to: Uint8Array) => {
    const delegations = [{authority: cast.resident(5), delegate: to}];
    chain.send(cast.resident(7), {to: cast.resident(6).address, kind: "7702", delegations});
  };
  return {
    22: () => fill(0, 250, 1),
    23: () => fill(250, 500, 1),
    24: () => fill(500, 750, 1),
    25: () => fill(750, 1000, 1),
    28: () => callLedger("fillAndRevert(uint256,uint256,uint256)", [0, 20, 7], ledger, true),
    30: () => {
      const extra = {value: ETHER, gasLimit: 500_000n};
      for (const note of [1n, 2n, 3n])
        call(deployer, factory, encodeCall(FACTORY, "make(uint256)", note), extra);
      call(deployer, factory, encodeCall(FACTORY, "makeAt(bytes32,uint256)", word(4n), 4n), extra);
    },
    34: () => clear(2, 3, oldLedger),
    35: () => {
      payEphemeral(1n);
      payEphemeral(2n);
    },
    40: () => clear(100, 300),
    45: () => makeAndDestroy(1n),
    46: () => {
      makeAndDestroy(2n);
      payEphemeral(2n);
    },
    // There is no account at this address before or after.
    47: () => makeAndDestroy(3n),
    50: () => {
      for (const at of [2, 3, 4]) chain.send(cast.resident(at), {to: cast.piggyBank, value: ETHER});
    },
    52: () =>
      call(cast.resident(2), cast.piggyBank, encodeCall(PIGGY_BANK, "close(address)", makeAddress("heir"))),
    54: () => {
      const values = [cast.resident(11).address, 5n * ETHER];
      call(cast.resident(10), token, encodeCall(TOKEN, "approve(address,uint256)", ...values));
    },
    56: () => {
      const input = encodeCall(TOKEN, "transfer(address,uint256)", cast.resident(0).address, ETHER);
      call(cast.resident(RESIDENTS - 1), token, input, {reverts: true});
    },
    // Uses the allowance up, which clears its slot.
    60: () => {
      const values = [cast.resident(10).address, cast.resident(12).address, 5n * ETHER];
      call(cast.resident(11), token, encodeCall(TOKEN, "transferFrom(address,address,uint256)", ...values));
    },
    62: () => delegate(cast.batcher),
    64: () => {
      const authority = cast.resident(5);
      const transfer = encodeCall(TOKEN, "transfer(address,uint256)", makeAddress("batch"), ETHER);
      const input = encodeCall(
        BATCHER,
        "run((address,bytes)[])",
        [1, 2].map(() => [token, transfer]),
      );
      call(authority, authority.address, input, {gasLimit: 300_000n});
    },
    70: () => fill(150, 200, 9),
    75: () => delegate(NOBODY),
    // Cleared and set again in one block, and the other way round.
    80: () => {
      clear(0, 20);
      fill(0, 10, 3);
    },
    82: () => {
      fill(10, 20, 4);
      clear(15, 20);
    },
  };
}

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
  private readonly dice = new Dice("transfers");
  private newcomers = 0;

  constructor(
    private readonly cast: Cast,
    private readonly chain: DemoChain,
  ) {}

  async tell(): Promise<void> {
    const events = createEvents(this.cast, this.chain);
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
      events[this.chain.number]?.();
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
