/**
 * Runs one call at one block with a given gas limit, as a transaction in that block would run. It keeps none of its effects.
 *
 * This is the part of @ethereumjs' runTx that decides success and gas. runTx itself takes a signed transaction, checks rules
 * that a call need not obey, and makes a receipt and a bloom.
 */
import {EVMError} from "@ethereumjs/evm";
import {Account, Address} from "@ethereumjs/util";
import {paidGas} from "../../execution/rules/gas.ts";
import type {EstimateCall} from "../../job/estimateCall.ts";
import type {CallStart, RunResult} from "../../job/pausedEstimate.ts";
import type {BlockRules} from "../blockRules.ts";
import {type CallRuns, tooLittleGas, ZERO_ADDRESS} from "../call/callRuns.ts";
import {paidFieldsOf} from "../call/callTransaction.ts";
import type {Deadline} from "../call/deadline.ts";
import {splitWords} from "../call/words.ts";
import {applyAuthorizations, recoverAuthorities, type SignedAuthorization} from "./authorizations.ts";
import {type BlockContext, contextOf, type ForkEvm} from "./libraryEvms.ts";

const {
  REVERT,
  OUT_OF_GAS,
  CODESTORE_OUT_OF_GAS,
  CODESIZE_EXCEEDS_MAXIMUM,
  STACK_UNDERFLOW,
  STACK_OVERFLOW,
  INVALID_JUMP,
  OUT_OF_RANGE,
  STATIC_STATE_CHANGE,
  CREATE_COLLISION,
  VALUE_OVERFLOW,
  INSUFFICIENT_BALANCE,
  INVALID_BYTECODE_RESULT,
  INITCODE_SIZE_VIOLATION,
  INVALID_EOF_FORMAT,
} = EVMError.errorMessages;

/** Plain words for the library's halt messages. A message that is not listed is plain already. */
const REASONS: Readonly<Record<string, string>> = {
  [CODESIZE_EXCEEDS_MAXIMUM]: "the code that the creation returns is longer than 24576 bytes (EIP-170)",
  [STACK_UNDERFLOW]: "stack underflow: an instruction takes more from the stack than it holds",
  [STACK_OVERFLOW]: "stack overflow: more than 1024 words on the stack",
  [INVALID_JUMP]: "invalid jump: its destination is no JUMPDEST",
  [OUT_OF_RANGE]: "an instruction reads or returns data beyond its end",
  [STATIC_STATE_CHANGE]: "write protection: a static call changes the state",
  [CREATE_COLLISION]: "contract address collision: the new address has a nonce, code or storage already",
  [VALUE_OVERFLOW]: "the receiver's balance would be 2^256 wei or more",
  [INSUFFICIENT_BALANCE]: "insufficient balance for transfer: the sender has less than the value",
  [INVALID_BYTECODE_RESULT]: "the code that the creation returns begins with 0xef (EIP-3541)",
  [INITCODE_SIZE_VIOLATION]: "the initcode (the data of a creation) is longer than 49152 bytes (EIP-3860)",
  [INVALID_EOF_FORMAT]: "the code begins with 0xef (EIP-3541)",
};

export class LibrarySimulation implements CallRuns {
  runs = 0;
  private readonly block: BlockContext;
  private readonly sender: Address;
  private readonly minimum: bigint;
  private readonly intrinsic: bigint;
  private readonly to: Address | undefined;
  private authorizations: readonly SignedAuthorization[] | undefined;

  /** @param gasPrice - wei per gas that the sender pays and GASPRICE returns */
  constructor(
    private readonly call: EstimateCall,
    private readonly forkEvm: ForkEvm,
    private readonly rules: BlockRules,
    private readonly gasPrice: bigint,
    private readonly deadline: Deadline,
  ) {
    const {intrinsic, floor} = paidGas(paidFieldsOf(call), rules.rules);
    this.intrinsic = intrinsic;
    this.minimum = floor > intrinsic ? floor : intrinsic;
    this.block = contextOf(rules);
    this.sender = new Address(call.from ?? ZERO_ADDRESS);
    this.to = call.to === undefined ? undefined : new Address(call.to);
  }

  async readStart(): Promise<CallStart> {
    const {to, call} = this;
    const {nonce, balance} = await this.readSender();
    const mayBePlain = to !== undefined && call.data.length === 0;
    return {
      ...{nonce, balance},
      isPlainTransfer: mayBePlain && (await this.forkEvm.state.getCodeSize(to)) === 0,
    };
  }

  /** @throws TimeLimitError, StoreError; after either, the EVM must be reset or dropped before the next call */
  async run(gasLimit: bigint): Promise<RunResult> {
    if (gasLimit < this.minimum) return tooLittleGas(this.minimum);
    this.runs++;
    const {state, evm} = this.forkEvm;
    this.authorizations ??= recoverAuthorities(this.call.authorizationList ?? [], this.deadline);
    const result = await state.attempt(() => this.execute(gasLimit));
    evm.journal.cleanJournal();
    evm.transientStorage.clear();
    return result;
  }

  private async readSender(): Promise<Account> {
    return (await this.forkEvm.state.getAccount(this.sender)) ?? new Account();
  }

  private async execute(gasLimit: bigint): Promise<RunResult> {
    const {state, evm} = this.forkEvm;
    const account = await this.readSender();
    if (this.call.from !== undefined) account.balance -= gasLimit * this.gasPrice;
    account.nonce = (this.call.nonce ?? account.nonce) + 1n;
    await state.putAccount(this.sender, account);
    this.warm();
    await applyAuthorizations(this.authorizations ?? [], this.rules.chainId, state, evm);
    const {execResult} = await evm.runCall({
      block: this.block,
      gasPrice: this.gasPrice,
      caller: this.sender,
      gasLimit: gasLimit - this.intrinsic,
      ...(this.to === undefined ? {} : {to: this.to}),
      value: this.call.value,
      data: this.call.data,
      skipNonceIncrement: true,
    });
    const executed = execResult.executionGasUsed + this.intrinsic;
    return {
      failure: this.describeFailure(execResult.exceptionError),
      returned: execResult.returnValue,
      spent: executed > this.minimum ? executed : this.minimum,
    };
  }

  /** EIP-2929, 2930 and 3651. */
  private warm(): void {
    const {evm, common} = this.forkEvm;
    if (!common.isActivatedEIP(2929)) return;
    const {journal} = evm;
    for (const address of evm.precompiles.keys()) journal.addAlwaysWarmAddress(address);
    journal.addAlwaysWarmAddress(this.sender.toString());
    if (this.to !== undefined) journal.addAlwaysWarmAddress(this.to.toString());
    if (common.isActivatedEIP(3651)) journal.addAlwaysWarmAddress(this.block.header.coinbase.toString());
    for (const {address, storageKeys} of this.call.accessList ?? []) {
      const name = Buffer.from(address).toString("hex");
      journal.addAlwaysWarmAddress(name);
      for (const key of splitWords(storageKeys))
        journal.addAlwaysWarmSlot(name, Buffer.from(key).toString("hex"));
    }
  }

  private describeFailure(error: EVMError | undefined): RunResult["failure"] {
    if (error === undefined) return undefined;
    // The library adds the place of an invalid jump, as hashes of code and contract.
    const reason = error.error.replace(/ at 0x.*$/s, "");
    if (reason === REVERT) {
      // The library says "revert" for most inputs that a precompile refuses. Unlike a revert, that takes all gas.
      const isPrecompile = this.to !== undefined && this.forkEvm.evm.getPrecompile(this.to) !== undefined;
      if (isPrecompile) return {kind: "other", reason: "the precompile refuses its input"};
      return {kind: "revert", reason};
    }
    if (reason === OUT_OF_GAS || reason === CODESTORE_OUT_OF_GAS) return {kind: "outOfGas", reason};
    return {kind: "other", reason: REASONS[reason] ?? reason};
  }
}
