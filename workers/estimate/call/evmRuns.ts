/** Runs of a call in our own EVM. */
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
import type {BlockRules} from "../blockRules.ts";
import {type CallRuns, type RunResult, tooLittleGas, ZERO_ADDRESS} from "./callRuns.ts";
import {paidFieldsOf} from "./callTransaction.ts";
import type {Deadline} from "./deadline.ts";
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

const NO_BYTES = new Uint8Array(0);
const TOO_LONG: EvmResult = {
  end: "initcodeTooLong",
  gasLeft: 0n,
  returned: NO_BYTES,
  created: undefined,
  leastGas: undefined,
  isBounded: false,
};

export class EvmRuns implements CallRuns {
  runs = 0;
  private readonly sender: Uint8Array;
  private readonly intrinsic: bigint;
  private readonly minimum: bigint;
  private authorizations: readonly SignedAuthorization[] | undefined;

  /**
   * @param evm - on the block's state, with the call's overrides
   * @param gasPrice - wei per gas that the sender pays and GASPRICE returns
   */
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

  async readSender(): Promise<{nonce: bigint; balance: bigint}> {
    return {nonce: this.evm.readNonce(this.sender), balance: this.evm.readBalance(this.sender)};
  }

  async isPlainTransfer(): Promise<boolean> {
    const {to, data} = this.call;
    return to !== undefined && data.length === 0 && this.evm.readCode(to).length === 0;
  }

  /** @throws also EvmDeclined */
  async run(gasLimit: bigint): Promise<RunResult> {
    if (gasLimit < this.minimum) return tooLittleGas(this.minimum);
    this.runs++;
    const {evm, deadline} = this;
    this.authorizations ??= (this.call.authorizationList ?? []).map(one => {
      deadline.check();
      return {...one, authority: recoverAuthority(one)};
    });
    deadline.check();
    const mark = evm.checkpoint();
    evm.beginTransaction();
    try {
      return this.describe(await this.execute(gasLimit), gasLimit);
    } finally {
      evm.revertTo(mark);
    }
  }

  private async execute(gasLimit: bigint): Promise<EvmResult> {
    const {call, evm, block, sender, gasPrice, deadline} = this;
    const {to, value, data} = call;
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
