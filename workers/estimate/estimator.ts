/**
 * Answers the calls of an EstimateJob, each with a whole JSON-RPC response in text: of an estimate gas limit, base fee
 * and priority fee, of a call what it returns.
 *
 *   call -> EVM at its block -> overrides -> what the sender can pay -> gas search (runs) -> priority fee -> text
 *                                                                    -> one run                          -> text
 */

import {EvmDeclined} from "../../evm/interpreter/ends.ts";
import {Evm} from "../../evm/interpreter/evm.ts";
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {isDamage, StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {encodeResponse, SEPARATOR} from "../messages/answers.ts";
import {type EstimateCall, MAX_RETURNED_BYTES, MAX_WITNESS_BYTES} from "../messages/estimateCall.ts";
import type {EstimateAnswers, EstimateJob} from "../messages/estimateJob.ts";
import type {EstimateSettings} from "../messages/estimateSettings.ts";
import {FIRST_SLICE, JOB_MS} from "../messages/estimateSlice.ts";
import {CallFailure, type Failure, failureOf} from "../messages/failure.ts";
import {BASE_FEE, type BlockRules, ChainRules} from "./blockRules.ts";
import {runCall} from "./call/callRun.ts";
import {encodeUnsigned, feeOf, missingEip, typeOf} from "./call/callTransaction.ts";
import {Deadline, TimeLimitError} from "./call/deadline.ts";
import {executionFailed, refuseOpStack, refuseSlices} from "./call/estimateError.ts";
import {EvmRuns, override, type RunResult, ZERO_ADDRESS} from "./call/evmRuns.ts";
import {explainEstimate, explainFailure} from "./call/failedRun.ts";
import {searchGasLimit} from "./call/gasSearch.ts";
import {checkNonce, upperBound} from "./call/senderBounds.ts";
import {compressedSize} from "./fee/compressedSize.ts";
import {PriorityFee} from "./fee/priorityFee.ts";
import {CachedEvms} from "./state/cachedEvms.ts";
import {CallWitness} from "./state/callWitness.ts";
import type {Turns} from "./turns.ts";

/** Longer call data gets no first slice: the work after execution takes too long and never checks the deadline. */
const MAX_FIRST_DATA_BYTES = 32 << 10;
/** Of finalized blocks, whose records are kept: half a KB each, 64 KB at most. */
const KEPT_BLOCKS = 64;
/**
 * Sends the first transaction of each block of an OP stack, a deposit (type 126) with what layer 1's block says. Each one
 * raises its nonce, so every state from the first on shows it, wherever the store came from. Nobody has its key.
 */
const L1_ATTRIBUTES_DEPOSITOR = Buffer.from("deaddeaddeaddeaddeaddeaddeaddeaddead0001", "hex");

export interface Estimate {
  readonly gasLimit: bigint;
  /** Wei per gas. */
  readonly priorityFeePerGas: bigint;
  readonly runs: number;
}

type EvmWork<T> = (evm: Evm, rules: BlockRules, block: BlockRecord) => Promise<T>;

export class Estimator {
  private readonly gasCap: bigint;
  private readonly deadline: Deadline;
  private readonly blocks: FinalizedBlocks<BlockRecord>;
  private readonly rules: ChainRules;
  private readonly evms: CachedEvms;
  private readonly priorityFee: PriorityFee;
  /** Up to this finalized block, no state has deposits of the OP stack. */
  private plainUntil = -1;
  /** For calls with a witness: what it caches, their state would not be asked for. */
  private witnessEvm: Evm | undefined;

  /** @param chainId - the chain id if block 0 names none. @param turns - of the thread's estimates */
  constructor(
    private readonly store: StateReader,
    private readonly settings: EstimateSettings,
    chainId: bigint | undefined,
    turns?: Turns,
  ) {
    this.gasCap = BigInt(settings.gasCap);
    this.deadline = new Deadline(settings.timeMs, turns);
    this.blocks = new FinalizedBlocks(store, record => record, KEPT_BLOCKS);
    this.rules = new ChainRules({store, hardfork: settings.hardfork, chainId, gasCap: this.gasCap});
    this.evms = new CachedEvms(store, this.deadline);
    this.priorityFee = new PriorityFee(settings.fee);
  }

  async answer({calls, ids, isFirst = false}: EstimateJob): Promise<EstimateAnswers> {
    const startedMs = performance.now();
    const unfinished: number[] = [];
    let begun = 0;
    const texts: Buffer[] = [];
    const ends = new Uint32Array(calls.length);
    const failures: (Failure & {call: number})[] = [];
    let end = 0;
    for (let call = 0; call < calls.length; call++) {
      if (isFirst && call > 0 && performance.now() - startedMs >= JOB_MS) break;
      begun++;
      try {
        const result = await this.resultOf(calls[call] as EstimateCall, isFirst);
        const text = Buffer.from(encodeResponse(ids[call] as string, "result", result) + SEPARATOR);
        texts.push(text);
        end += text.length;
      } catch (error) {
        if (error instanceof TimeLimitError && error.hasMore) unfinished.push(call);
        else failures.push({call, ...failureOf(error)});
      }
      ends[call] = end;
    }
    ends.fill(end, begun);
    return {text: new Uint8Array(Buffer.concat(texts)), ends, failures, unfinished, begun};
  }

  /** @returns JSON text */
  private async resultOf(call: EstimateCall, isFirst: boolean): Promise<string> {
    if (call.errorCodes !== undefined) return this.runWitnessed(call, call.errorCodes, isFirst);
    return call.kind === "call"
      ? `"${toHex(await this.run(call, isFirst))}"`
      : encodeEstimate(await this.estimate(call, isFirst));
  }

  /** @throws CallFailure, StoreError */
  estimate(call: EstimateCall, isFirst = false): Promise<Estimate> {
    return this.work(call, isFirst, (evm, rules, block) => this.estimateOn(evm, block, rules, call));
  }

  /** @returns what the call returns. @throws CallFailure, StoreError */
  private run(call: EstimateCall, isFirst: boolean): Promise<Uint8Array> {
    return this.work(call, isFirst, async (evm, rules) => {
      const run = await runCall(evm, call, rules, this.gasCap, this.deadline);
      if (run.failure !== undefined) throw explainFailure(run);
      return checkReturned(run);
    });
  }

  /** @returns JSON text of the answer to proof_call. @throws CallFailure, StoreError */
  private runWitnessed(
    call: EstimateCall,
    codes: NonNullable<EstimateCall["errorCodes"]>,
    isFirst: boolean,
  ): Promise<string> {
    return this.work(call, isFirst, async (_, rules, block) => {
      const witness = new CallWitness(this.store, block, MAX_WITNESS_BYTES);
      const evm = this.witnessEvm ?? new Evm(work => this.deadline.exclude(work));
      // Kept only if the run ends as it should.
      this.witnessEvm = undefined;
      evm.moveTo(witness.state, true);
      const run = await runCall(evm, call, rules, this.gasCap, this.deadline);
      this.witnessEvm = evm;
      if (run.failure === undefined)
        return `{"result":"${toHex(checkReturned(run))}","witness":${witness.encode()}}`;
      const failed = explainFailure(run);
      const {failure} = failed;
      if (run.failure.kind === "intrinsic") throw failed;
      if (failure.failure !== "REVERTED" && failure.failure !== "EXECUTION_FAILED") throw failed;
      const {detail: message} = failure;
      const data = failure.failure === "REVERTED" ? failure.data : undefined;
      const error = JSON.stringify({code: codes[failure.failure], message, data});
      return `{"error":${error},"witness":${witness.encode()}}`;
    });
  }

  private async work<T>(call: EstimateCall, isFirst: boolean, work: EvmWork<T>): Promise<T> {
    try {
      return await this.workAt(call, isFirst, work);
    } catch (error) {
      if (call.isLatest !== true || !(error instanceof StoreError) || error.code !== "BLOCK_UNKNOWN")
        throw error;
      let {block} = call;
      while (block >= 0 && this.store.readBlock(block) === undefined) block--;
      if (block < 0) throw error;
      return this.work({...call, block}, isFirst, work);
    }
  }

  private async workAt<T>(call: EstimateCall, isFirst: boolean, work: EvmWork<T>): Promise<T> {
    const block = this.blocks.at(call.block);
    this.deadline.start(isFirst ? FIRST_SLICE : undefined);
    try {
      if (isFirst && call.data.length > MAX_FIRST_DATA_BYTES) throw new TimeLimitError(0, 0, true);
      return await this.workOnEvm(block, call, work);
    } catch (error) {
      if (isDamage(error)) this.requireStored(block);
      throw error;
    }
  }

  private async workOnEvm<T>(block: BlockRecord, call: EstimateCall, work: EvmWork<T>): Promise<T> {
    if (this.store.readSlice() !== undefined) throw refuseSlices(call);
    const evm = this.evms.at(block);
    const mark = evm.checkpoint();
    try {
      const {number} = block.header;
      // A nonce never falls, so one reading is enough for all earlier blocks.
      if (number > this.plainUntil) {
        if (evm.readNonce(L1_ATTRIBUTES_DEPOSITOR) > 0n) throw refuseOpStack(call);
        if (this.blocks.isFinalized(number)) this.plainUntil = number;
      }
      const rules = this.rules.at(block, call);
      checkType(call, rules);
      const result = await work(evm, rules, block);
      evm.revertTo(mark);
      return result;
    } catch (error) {
      const isExpected = error instanceof CallFailure || error instanceof StoreError;
      // Any other error, EvmDeclined among them, may have come in the middle of a change of the EVM's tables.
      if (isExpected) evm.revertTo(mark);
      else this.evms.discard(evm);
      if (error instanceof EvmDeclined)
        throw executionFailed(`the call cannot be executed: ${error.message}`);
      throw error;
    }
  }

  /** Rollbacks and pruning remove pages. @throws StoreError BLOCK_UNKNOWN if the block was rolled back, BLOCK_PRUNED */
  private requireStored({header: {number, hash}}: BlockRecord): void {
    this.store.refusePruned(number);
    const stored = this.store.readBlock(number)?.header.hash;
    if (stored === undefined || Buffer.compare(stored, hash) !== 0)
      throw new StoreError("BLOCK_UNKNOWN", `block ${number} was rolled back`);
  }

  private async estimateOn(
    evm: Evm,
    block: BlockRecord,
    rules: BlockRules,
    call: EstimateCall,
  ): Promise<Estimate> {
    evm.setBlock(rules.evmRules, rules.evmBlock);
    await override(evm, call.overrides ?? [], this.deadline);
    const {price, cap: feeCap} = feeOf(call, rules.baseFee);
    const runs = new EvmRuns(call, evm, rules, price, this.deadline);
    const {nonce, balance, isPlainTransfer} = runs.readStart();
    checkNonce(call, nonce);
    const bounds = {block: rules, gasCap: this.gasCap, feeCap, balance};
    const upper = upperBound(call, bounds);
    const limit = await searchGasLimit(gasLimit => runs.run(gasLimit), {
      upper,
      isPlainTransfer,
      tolerance: this.settings.gasTolerance,
    });
    if (typeof limit !== "bigint") {
      // A call that reverts says so, even if its own limit ends it before.
      const most = upperBound({...call, gas: undefined}, bounds);
      const withMost = upper < most && limit.failure?.kind !== "revert" ? await runs.run(most) : limit;
      throw explainEstimate(withMost.failure?.kind === "revert" ? withMost : limit, upper);
    }
    const unsigned = encodeUnsigned(call, typeOf(call, rules.rules), nonce, limit, rules.chainId);
    const priorityFeePerGas = this.priorityFee.of({
      gasLimit: limit,
      compressedSize: compressedSize(call.from ?? ZERO_ADDRESS, unsigned),
      baseFee: BASE_FEE,
      extraData: block.header.extraData,
    });
    return {gasLimit: limit, priorityFeePerGas, runs: runs.runs};
  }
}

/** @throws CallFailure LIMIT_EXCEEDED */
function checkReturned({returned}: RunResult): Uint8Array {
  const [limit, got] = [MAX_RETURNED_BYTES, returned.length];
  if (got <= limit) return returned;
  const detail = `a call may return at most ${limit} bytes, this one returns ${got}`;
  throw new CallFailure({failure: "LIMIT_EXCEEDED", detail, limit, got});
}

/** @throws CallFailure CALL_INVALID if the block's fork does not have the transaction type */
function checkType(call: EstimateCall, {rules, fork}: BlockRules): void {
  const type = typeOf(call, rules);
  const eip = missingEip(type, rules);
  if (eip === undefined) return;
  const detail = `transactions of type ${type} need EIP-${eip}, which block ${call.block} (${fork}) does not have`;
  throw new CallFailure({failure: "CALL_INVALID", detail});
}

function encodeEstimate({gasLimit, priorityFeePerGas}: Estimate): string {
  return `{"baseFeePerGas":"${hex(BASE_FEE)}","gasLimit":"${hex(gasLimit)}","priorityFeePerGas":"${hex(priorityFeePerGas)}"}`;
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
