/** Runs of a call at a block with different gas limits, as a transaction there would run. None keeps its effects. */

import {paidGas} from "../../../evm/execution/rules/gas.ts";
import {
  applyAuthorizations,
  recoverAuthority,
  type SignedAuthorization,
} from "../../../evm/execution/run/authorizations.ts";
import type {EvmEnd} from "../../../evm/interpreter/ends.ts";
import type {Evm} from "../../../evm/interpreter/evm.ts";
import type {EvmResult} from "../../../evm/interpreter/message.ts";
import type {Waits} from "../../../evm/interpreter/waits.ts";
import {
  type AccessListEntry,
  type AccountOverride,
  type Authorization,
  type EstimateCall,
  splitWords,
} from "../../messages/estimateCall.ts";
import type {BlockRules} from "../blockRules.ts";
import {paidFieldsOf} from "./callTransaction.ts";
import type {Deadline} from "./deadline.ts";

const REASONS: Readonly<Partial<Record<EvmEnd, string>>> = {
  invalidOpcode: "invalid opcode",
  stackUnderflow: "stack underflow: an instruction takes more from the stack than it holds",
  stackOverflow: "stack limit reached: more than 1024 words on the stack",
  invalidJump: "invalid jump destination: it is no JUMPDEST",
  outOfRange: "return data out of bounds: an instruction reads data beyond its end",
  writeProtection: "write protection: a static call changes the state",
  codeTooLong:
    "max code size exceeded: the code that the creation returns is longer than 24576 bytes (EIP-170)",
  codeStartsEf: "invalid code: must not begin with 0xef (EIP-3541)",
  initcodeTooLong: "max initcode size exceeded: the data of a creation is longer than 49152 bytes (EIP-3860)",
  collision: "contract address collision: the new address has a nonce, code or storage already",
  insufficientBalance: "insufficient balance for transfer: the sender has less than the value",
  valueOverflow: "the receiver's balance would be 2^256 wei or more",
  precompileFailed: "the precompile refuses its input",
};

/** Slots of lists and overrides that are read or written before others have a turn: half a millisecond on a large store. */
const SLOTS_AT_ONCE = 32;
/** EIP-3860. Deeper creations fail inside the EVM. */
const MAX_INITCODE_BYTES = 49_152;

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

export interface RunResult {
  /** undefined: the call succeeded. */
  readonly failure: RunFailure | undefined;
  /** Of a creation: its code. */
  readonly returned: Uint8Array;
  /** Gas taken before refunds, at least the floor. No lower gas limit is enough. */
  readonly spent: bigint;
  /** The least gas limit with which all happens as it did. undefined: only more runs tell. */
  readonly least?: bigint | undefined;
  /** With less than `least` the call may succeed too, in another way. */
  readonly isBounded?: boolean;
}

interface RunFailure {
  readonly kind: "revert" | "outOfGas" | "intrinsic" | "other";
  readonly reason: string;
}

export class EvmRuns {
  runs = 0;
  private readonly sender: Uint8Array;
  private readonly intrinsic: bigint;
  private readonly minimum: bigint;
  private authorizations: readonly SignedAuthorization[] | undefined;

  /** @param evm - on the block's state, with the overrides. @param gasPrice - wei per gas; GASPRICE returns it */
  constructor(
    private readonly call: EstimateCall,
    private readonly evm: Evm,
    private readonly block: BlockRules,
    private readonly gasPrice: bigint,
    private readonly deadline: Deadline,
  ) {
    const {intrinsic, floor} = paidGas(paidFieldsOf(call), block.rules);
    this.intrinsic = intrinsic;
    this.minimum = floor > intrinsic ? floor : intrinsic;
    this.sender = call.from ?? ZERO_ADDRESS;
  }

  readStart() {
    const {evm, sender} = this;
    const {to, data} = this.call;
    return {
      nonce: evm.readNonce(sender),
      balance: evm.readBalance(sender),
      /** The call has no data, and its receiver has nothing that could run. */
      isPlainTransfer: to !== undefined && data.length === 0 && evm.readCode(to).length === 0,
    };
  }

  /** @throws TimeLimitError, StoreError, EvmDeclined */
  *run(gasLimit: bigint): Waits<RunResult> {
    if (gasLimit < this.minimum) return this.tooLittleGas();
    this.runs++;
    const {authorizationList} = this.call;
    if (authorizationList !== undefined)
      this.authorizations ??= yield* this.recoverAuthorities(authorizationList);
    const mark = this.evm.checkpoint();
    try {
      return this.describe(yield* this.execute(gasLimit), gasLimit);
    } finally {
      this.evm.revertTo(mark);
    }
  }

  private *recoverAuthorities(list: readonly Authorization[]): Waits<SignedAuthorization[]> {
    const signed: SignedAuthorization[] = [];
    for (const one of list) {
      yield this.deadline.pause();
      signed.push({...one, authority: recoverAuthority(one)});
    }
    return signed;
  }

  private *execute(gasLimit: bigint): Waits<EvmResult> {
    const {call, evm, block, sender, gasPrice, deadline} = this;
    const {to, value, data} = call;
    evm.beginTransaction();
    const isCall = call.kind === "call";
    const nonce = (isCall ? undefined : call.nonce) ?? evm.readNonce(sender);
    if ((isCall || call.from !== undefined) && gasPrice > 0n)
      evm.writeBalance(sender, evm.readBalance(sender) - gasLimit * gasPrice);
    evm.writeNonce(sender, nonce + 1n);
    this.warm();
    if (call.accessList !== undefined) yield* this.warmList(call.accessList);
    applyAuthorizations(evm, this.authorizations ?? [], block.chainId);
    const gas = gasLimit - this.intrinsic;
    if (to === undefined && block.rules.isShanghai && data.length > MAX_INITCODE_BYTES) return TOO_LONG;
    const message = {origin: sender, caller: sender, to, value, data, gas, gasPrice, blobHashes: [], nonce};
    return yield* evm.steps(message, next => deadline.pause(next));
  }

  /** EIP-2929 and 3651. */
  private warm(): void {
    const {call, evm, block, sender} = this;
    evm.warmAddress(sender);
    if (call.to !== undefined) evm.warmAddress(call.to);
    if (block.rules.isShanghai) evm.warmCoinbase();
  }

  /** EIP-2930. */
  private *warmList(list: readonly AccessListEntry[]): Waits<void> {
    const {evm, deadline} = this;
    for (const {address, storageKeys} of list) {
      yield deadline.pause();
      evm.warmAddress(address);
      for (const [i, key] of splitWords(storageKeys).entries()) {
        if (i % SLOTS_AT_ONCE === SLOTS_AT_ONCE - 1) yield deadline.pause();
        evm.warmSlot(address, key);
      }
    }
  }

  private describe(result: EvmResult, gasLimit: bigint): RunResult {
    const {end, gasLeft, returned, created, leastGas, isBounded} = result;
    const spent = this.atLeast(gasLimit - gasLeft);
    const least = leastGas === undefined ? undefined : this.atLeast(this.intrinsic + leastGas);
    switch (end) {
      case "success":
        return {
          failure: undefined,
          returned: created === undefined ? returned : this.evm.readCode(created),
          ...{spent, least, isBounded},
        };
      case "revert":
        return {failure: {kind: "revert", reason: "revert"}, returned, spent};
      case "outOfGas":
      case "codeStoreOutOfGas":
        return {failure: {kind: "outOfGas", reason: "out of gas"}, returned, spent};
      default:
        return {failure: {kind: "other", reason: REASONS[end] ?? end}, returned, spent};
    }
  }

  private tooLittleGas(): RunResult {
    const {minimum} = this;
    const reason = `intrinsic gas too low: the call takes ${minimum} gas before it executes anything`;
    return {failure: {kind: "intrinsic", reason}, returned: NO_BYTES, spent: minimum};
  }

  private atLeast(gas: bigint): bigint {
    return gas > this.minimum ? gas : this.minimum;
  }
}

/** Writes what the caller says that the state is instead. @throws TimeLimitError */
export function* override(evm: Evm, overrides: readonly AccountOverride[], deadline: Deadline): Waits<void> {
  for (const {address, balance, nonce, code, slots, replacesStorage} of overrides) {
    yield deadline.pause();
    if (balance !== undefined) evm.writeBalance(address, balance);
    if (nonce !== undefined) evm.writeNonce(address, nonce);
    if (code !== undefined) evm.writeCode(address, code);
    if (replacesStorage === true) evm.clearStorage(address);
    const words = splitWords(slots ?? NO_BYTES);
    for (let at = 0; at < words.length; at += 2) {
      if (at % (2 * SLOTS_AT_ONCE) === 2 * (SLOTS_AT_ONCE - 1)) yield deadline.pause();
      evm.writeSlot(address, words[at] as Uint8Array, words[at + 1] as Uint8Array);
    }
  }
}
