/** The interpreter with one contract, for tests that write out code and what it costs. */
import assert from "node:assert/strict";
import {Evm} from "../../../evm/interpreter/evm.ts";
import type {EvmResult} from "../../../evm/interpreter/message.ts";
import {rulesOf} from "../../../evm/interpreter/rules.ts";
import {toHex} from "../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "../chains/memoryState.ts";
import {InterpreterState} from "./interpreterState.ts";
import {addressOf, FORKS} from "./randomState.ts";

export const CONTRACT = 0xc0den;
const CALLER = addressOf(0xca11e4n);
const COINBASE = addressOf(0xc01bn);
const GAS = 10_000_000n;
const STEPS = 100_000;

export interface Setting {
  readonly gas?: bigint;
  readonly value?: bigint;
  readonly data?: Uint8Array;
  /** Of the contract: value by slot. */
  readonly slots?: Readonly<Record<string, bigint>>;
  /** Other accounts, by address. */
  readonly accounts?: readonly (readonly [address: bigint, account: Partial<MemoryAccount>])[];
  readonly balance?: bigint;
  /** The code is the initcode of a creation, not the contract's. */
  readonly isCreation?: boolean;
}

export interface Run extends EvmResult {
  readonly gasUsed: bigint;
  readonly refund: bigint;
  /** The first word of what was returned. */
  readonly word: bigint;
  readonly state: MemoryState;
}

const evm = new Evm();

export class EvmKit {
  private constructor(readonly fork: string) {}

  /** @param since - the first fork that it holds under */
  static each(check: (kit: EvmKit) => void, since = "berlin"): void {
    for (const fork of FORKS.slice(FORKS.indexOf(since))) check(new EvmKit(fork));
  }

  has(fork: string): boolean {
    return FORKS.indexOf(this.fork) >= FORKS.indexOf(fork);
  }

  /** Everything is cold but the precompiles and the contract. */
  run(code: Uint8Array, setting: Setting = {}): Run {
    const state = new MemoryState();
    const put = (address: bigint, fields: Partial<MemoryAccount>) =>
      state.accounts.set(toHex(addressOf(address)), {
        nonce: 0n,
        balance: 0n,
        code: new Uint8Array(0),
        slots: new Map(),
        ...fields,
      });
    const isCreation = setting.isCreation === true;
    const slots = Object.entries(setting.slots ?? {}).map(
      ([slot, value]) => [word(slot), word(value)] as const,
    );
    put(BigInt(toHex(CALLER)), {nonce: 1n, balance: 10n ** 18n});
    if (!isCreation) put(CONTRACT, {nonce: 1n, balance: setting.balance ?? 0n, code, slots: new Map(slots)});
    for (const [address, fields] of setting.accounts ?? []) put(address, fields);
    const source = new InterpreterState(state, number => Uint8Array.from({length: 32}, () => number % 256));
    evm.moveTo(source);
    evm.setBlock(rulesOf(this.fork) ?? assert.fail(), {
      number: 1000n,
      timestamp: 2000n,
      gasLimit: 30_000_000n,
      coinbase: COINBASE,
      baseFee: 7n,
      blobBaseFee: 3n,
      random: 9n,
      chainId: 1337n,
    });
    evm.beginTransaction();
    evm.warmAddress(CALLER);
    if (!isCreation) evm.warmAddress(addressOf(CONTRACT));
    const gas = setting.gas ?? GAS;
    evm.begin({
      origin: CALLER,
      caller: CALLER,
      to: isCreation ? undefined : addressOf(CONTRACT),
      value: setting.value ?? 0n,
      data: isCreation ? code : (setting.data ?? new Uint8Array(0)),
      gas,
      gasPrice: 5n,
      blobHashes: [new Uint8Array(32).fill(1)],
      nonce: 0n,
    });
    while (evm.resume(STEPS) !== "ended");
    const result = evm.readResult();
    const {refund} = evm;
    evm.endTransaction();
    return {
      ...result,
      gasUsed: gas - result.gasLeft,
      refund,
      word: BigInt(`0x0${Buffer.from(result.returned.subarray(0, 32)).toString("hex")}`),
      state: source.after(evm),
    };
  }

  /** @throws AssertionError if the code does not succeed, or costs something else */
  expectGas(code: Uint8Array, gas: number, setting: Setting = {}): Run {
    const run = this.run(code, setting);
    const got = {end: run.end, gas: run.gasUsed};
    assert.deepEqual(got, {end: "success", gas: BigInt(gas)}, `${this.fork}: ${toHex(code).slice(0, 200)}`);
    return run;
  }

  /**
   * @param end - how it fails; undefined: whichever way
   * @throws AssertionError if the code does not fail and take all gas
   */
  expectFailure(code: Uint8Array, setting: Setting = {}, end?: EvmResult["end"]): void {
    const run = this.run(code, setting);
    const where = `${this.fork}: ${toHex(code).slice(0, 200)}`;
    assert.ok(run.end !== "success" && run.end !== "revert", `${where}: expected a failure, got ${run.end}`);
    assert.deepEqual([run.end, run.gasLeft], [end ?? run.end, 0n], where);
  }
}

function word(value: string | bigint): string {
  return `0x${BigInt(value).toString(16).padStart(64, "0")}`;
}
