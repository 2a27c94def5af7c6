/** Runs of one call at one block, each with another gas limit, as a transaction in that block would run. None keeps its effects. */
import type {EvmEnd} from "../../evm/ends.ts";
import type {Evm} from "../../evm/evm.ts";
import type {EvmResult} from "../../evm/message.ts";
import {paidGas} from "../../execution/rules/gas.ts";
import {
  applyAuthorizations,
  recoverAuthority,
  type SignedAuthorization,
} from "../../execution/run/authorizations.ts";
import type {AccountOverride, EstimateCall} from "../../job/estimateCall.ts";
import type {CallStart, PausedRuns, RunResult} from "../../job/pausedEstimate.ts";
import type {BlockRules} from "../blockRules.ts";
import {paidFieldsOf} from "./callTransaction.ts";
import {type Deadline, TimeLimitError} from "./deadline.ts";
import {splitWords} from "./words.ts";

/** In plain words. */
const REASONS: Readonly<Partial<Record<EvmEnd, string>>> = {
  invalidOpcode: "invalid opcode",
  stackUnderflow: "stack underflow: an instruction takes more from the stack than it holds",
  stackOverflow: "stack overflow: more than 1024 words on the stack",
  invalidJump: "invalid jump: its destination is no JUMPDEST",
  outOfRange: "an instruction reads or returns data beyond its end",
  writeProtection: "write protection: a static call changes the state",
  codeTooLong: "the code that the creation returns is longer than 24576 bytes (EIP-170)",
  codeStartsEf: "the code that the creation returns begins with 0xef (EIP-3541)",
  initcodeTooLong: "the initcode (the data of a creation) is longer than 49152 bytes (EIP-3860)",
  collision: "contract address collision: the new address has a nonce, code or storage already",
  insufficientBalance: "insufficient balance for transfer: the sender has less than the value",
  valueOverflow: "the receiver's balance would be 2^256 wei or more",
  precompileFailed: "the precompile refuses its input",
};

/** EIP-3860. Deeper creations fail inside the EVM. */
const MAX_INITCODE_BYTES = 49_152;

/**
 * Most bytes of a paused run: so many for each millisecond that its call has had, and for one more. With more bytes the call begins
 * again: copying a megabyte out of one EVM and into another takes 1 ms.
 */
const PAUSED_BYTES_PER_MS = 512 << 10;
const MAX_PAUSED_BYTES = 32 << 20;

const NO_BYTES = new Uint8Array(0);
const TOO_LONG: EvmResult = {
  end: "initcodeTooLong",
  gasLeft: 0n,
  returned: NO_BYTES,
  created: undefined,
  leastGas: undefined,
  isBounded: false,
};

/** The sender of a call that names none: its balance and nonce count. */
export const ZERO_ADDRESS = new Uint8Array(20);

export class EvmRuns {
  runs = 0;
  /** Set when the time of a slice ends in a run. undefined: the call must begin again. */
  paused: PausedRuns | undefined;
  private readonly sender: Uint8Array;
  private readonly intrinsic: bigint;
  private readonly minimum: bigint;
  private readonly results: RunResult[];
  private start: CallStart | undefined;
  private authorizations: readonly SignedAuthorization[] | undefined;
  /** The state before the run that is under way. */
  private mark: number | undefined;

  /**
   * @param evm - on the block's state, with the call's overrides
   * @param gasPrice - wei per gas that the sender pays and GASPRICE returns
   * @param paused - to go on with. The EVM has its run
   */
  constructor(
    private readonly call: EstimateCall,
    private readonly evm: Evm,
    private readonly block: BlockRules,
    private readonly gasPrice: bigint,
    private readonly deadline: Deadline,
    paused?: PausedRuns,
  ) {
    const {intrinsic, floor} = paidGas(paidFieldsOf(call), block.rules);
    this.intrinsic = intrinsic;
    this.minimum = floor > intrinsic ? floor : intrinsic;
    this.sender = call.from ?? ZERO_ADDRESS;
    this.results = [...(paused?.results ?? [])];
    this.start = paused?.start;
    this.mark = paused?.mark;
    if (paused !== undefined)
      this.authorizations = (call.authorizationList ?? []).map((one, at) => ({
        ...one,
        authority: paused.authorities[at],
      }));
  }

  async readStart(): Promise<CallStart> {
    const {evm, sender} = this;
    const {to, data} = this.call;
    this.start ??= {
      nonce: evm.readNonce(sender),
      balance: evm.readBalance(sender),
      isPlainTransfer: to !== undefined && data.length === 0 && evm.readCode(to).length === 0,
    };
    return this.start;
  }

  /** @throws TimeLimitError, StoreError, EvmDeclined */
  async run(gasLimit: bigint): Promise<RunResult> {
    if (gasLimit < this.minimum) return this.tooLittleGas();
    const known = this.results[this.runs++];
    if (known !== undefined) return known;
    const {evm, deadline} = this;
    const isUnderWay = this.mark !== undefined;
    this.authorizations ??= (this.call.authorizationList ?? []).map(one => {
      deadline.check();
      return {...one, authority: recoverAuthority(one)};
    });
    this.mark ??= evm.checkpoint();
    try {
      const ended = isUnderWay ? await evm.goOn(() => deadline.check()) : await this.execute(gasLimit);
      const result = this.describe(ended, gasLimit);
      this.results.push({...result, returned: NO_BYTES});
      return result;
    } catch (error) {
      if (error instanceof TimeLimitError && error.hasMore) this.paused = this.pause(this.mark);
      throw error;
    } finally {
      evm.revertTo(this.mark);
      this.mark = undefined;
    }
  }

  private pause(mark: number): PausedRuns | undefined {
    const {evm, deadline, start, results, authorizations = []} = this;
    const run = evm.copyRun(Math.min((1 + deadline.usedMs) * PAUSED_BYTES_PER_MS, MAX_PAUSED_BYTES));
    if (run === undefined || start === undefined) return undefined;
    return {start, results, authorities: authorizations.map(({authority}) => authority), run, mark};
  }

  private async execute(gasLimit: bigint): Promise<EvmResult> {
    const {call, evm, block, sender, gasPrice, deadline} = this;
    const {to, value, data} = call;
    evm.beginTransaction();
    const nonce = call.nonce ?? evm.readNonce(sender);
    if (call.from !== undefined && gasPrice > 0n)
      evm.writeBalance(sender, evm.readBalance(sender) - gasLimit * gasPrice);
    evm.writeNonce(sender, nonce + 1n);
    this.warm();
    applyAuthorizations(evm, this.authorizations ?? [], block.chainId);
    const gas = gasLimit - this.intrinsic;
    if (to === undefined && block.rules.isShanghai && data.length > MAX_INITCODE_BYTES) return TOO_LONG;
    const message = {origin: sender, caller: sender, to, value, data, gas, gasPrice, blobHashes: [], nonce};
    return evm.run(message, () => deadline.check());
  }

  /** EIP-2929, 2930 and 3651. */
  private warm(): void {
    const {call, evm, block, sender} = this;
    evm.warmAddress(sender);
    if (call.to !== undefined) evm.warmAddress(call.to);
    if (block.rules.isShanghai) evm.warmAddress(block.evmBlock.coinbase);
    for (const {address, storageKeys} of call.accessList ?? []) {
      evm.warmAddress(address);
      for (const key of splitWords(storageKeys)) evm.warmSlot(address, key);
    }
  }

  private describe({end, gasLeft, returned, leastGas, isBounded}: EvmResult, gasLimit: bigint): RunResult {
    const spent = this.atLeast(gasLimit - gasLeft);
    const least = leastGas === undefined ? undefined : this.atLeast(this.intrinsic + leastGas);
    switch (end) {
      case "success":
        return {failure: undefined, returned, spent, least, isBounded};
      case "revert":
        return {failure: {kind: "revert", reason: "revert"}, returned, spent};
      case "outOfGas":
      case "codeStoreOutOfGas":
        return {failure: {kind: "outOfGas", reason: "out of gas"}, returned, spent};
      default:
        return {failure: {kind: "other", reason: REASONS[end] ?? end}, returned, spent};
    }
  }

  /** Under its least gas, a call is not run. */
  private tooLittleGas(): RunResult {
    const {minimum} = this;
    const reason = `the call takes ${minimum} gas before it executes anything`;
    return {failure: {kind: "intrinsic", reason}, returned: NO_BYTES, spent: minimum};
  }

  private atLeast(gas: bigint): bigint {
    return gas > this.minimum ? gas : this.minimum;
  }
}

/** Writes what the caller says that the state is instead. */
export function override(evm: Evm, overrides: readonly AccountOverride[]): void {
  for (const {address, balance, nonce, code, slots, replacesStorage} of overrides) {
    if (balance !== undefined) evm.writeBalance(address, balance);
    if (nonce !== undefined) evm.writeNonce(address, nonce);
    if (code !== undefined) evm.writeCode(address, code);
    if (replacesStorage === true) evm.clearStorage(address);
    const words = splitWords(slots ?? NO_BYTES);
    for (let at = 0; at < words.length; at += 2)
      evm.writeSlot(address, words[at] as Uint8Array, words[at + 1] as Uint8Array);
  }
}
