/**
 * Answers the calls of a job, each with a whole JSON-RPC response in text: of an estimate gas limit, base fee
 * and priority fee, of a call what it returns.
 *
 *   call -> EVM at its block -> overrides -> what the sender can pay -> gas search (runs) -> priority fee -> text
 *                                                                    -> one run                          -> text
 */

import {EvmDeclined} from "../../evm/interpreter/ends.ts";
import {Evm} from "../../evm/interpreter/evm.ts";
import {finish, type Waits} from "../../evm/interpreter/waits.ts";
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {isDamage, StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {type Answers, openResult, RESPONSE_END, SEPARATOR} from "../messages/answers.ts";
import {type EstimateCall, MAX_RETURNED_BYTES, MAX_WITNESS_BYTES} from "../messages/estimateCall.ts";
import type {EstimateSettings} from "../messages/estimateSettings.ts";
import {FIRST_SLICE, JOB_MS} from "../messages/estimateSlice.ts";
import {CallFailure, type Failure, failureOf} from "../messages/failure.ts";
import type {PackedJob} from "../messages/jobMailbox.ts";
import {estimateEnd, unpackEstimate} from "../messages/packedEstimate.ts";
import {AnswerText} from "../prove/answerText.ts";
import {BASE_FEE, type BlockRules, ChainRules} from "./blockRules.ts";
import {encodeUnsigned, feeOf, missingEip, typeOf} from "./call/callTransaction.ts";
import {Deadline, TimeLimitError} from "./call/deadline.ts";
import {executionFailed, refuseOpStack, refuseSlices} from "./call/estimateError.ts";
import {EvmRuns, override, type RunResult, ZERO_ADDRESS} from "./call/evmRuns.ts";
import {explainEstimate, explainFailure} from "./call/failedRun.ts";
import {searchGasLimit} from "./call/gasSearch.ts";
import {checkFeeCap, checkNonce, upperBound} from "./call/senderBounds.ts";
import {compressedSize} from "./fee/compressedSize.ts";
import {PriorityFee} from "./fee/priorityFee.ts";
import {CachedEvms} from "./state/cachedEvms.ts";
import {CallWitness} from "./state/callWitness.ts";
import type {Turns} from "./turns.ts";

/** Longer call data gets no first slice: the work after execution takes too long and never checks the deadline. */
const MAX_FIRST_DATA_BYTES = 32 << 10;
const END = RESPONSE_END + SEPARATOR;
/** Of `"0x"`. */
const QUOTES_BYTES = 4;
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

type EvmWork<T> = (
  this: Estimator,
  evm: Evm,
  rules: BlockRules,
  block: BlockRecord,
  call: EstimateCall,
) => Waits<T>;

export class Estimator {
  private readonly gasCap: bigint;
  private readonly deadline: Deadline;
  private readonly blocks: FinalizedBlocks<BlockRecord>;
  private readonly rules: ChainRules;
  private readonly evms: CachedEvms;
  private readonly priorityFee: PriorityFee;
  private readonly text = new AnswerText();
  /** Up to this finalized block, no state has deposits of the OP stack, and none is of slices. */
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

  /** @param memory - for the text, if it is long enough. @param ends - of the answers, at least one per call */
  answer(job: PackedJob, memory?: Buffer, ends?: Uint32Array): Promise<Answers> {
    return finish(this.answerCalls(job, memory, ends ?? new Uint32Array(job.ids.length)));
  }

  private *answerCalls(job: PackedJob, memory: Buffer | undefined, ends: Uint32Array): Waits<Answers> {
    const {ids, isLong = false} = job;
    const {text} = this;
    const calls = Buffer.from(job.calls.buffer, job.calls.byteOffset, job.calls.length);
    const startedMs = performance.now();
    const unfinished: number[] = [];
    const failures: (Failure & {call: number})[] = [];
    let begun = 0;
    text.clear();
    for (let at = 0; begun < ids.length; begun++) {
      if (!isLong && begun > 0 && performance.now() - startedMs >= JOB_MS) break;
      const end = estimateEnd(calls, at);
      const start = text.size;
      try {
        text.text(openResult(ids[begun] as string));
        yield* this.write(unpackEstimate(calls.subarray(at, end)), !isLong);
        text.reserve(END.length);
        text.ascii(END);
      } catch (error) {
        text.truncate(start);
        if (error instanceof TimeLimitError && error.hasMore) unfinished.push(begun);
        else failures.push({call: begun, ...failureOf(error)});
      }
      ends[begun] = text.size;
      at = end;
    }
    ends.fill(text.size, begun, ids.length);
    return {
      text: text.take(memory),
      ends,
      failures,
      unfinished: unfinished.length === 0 ? undefined : unfinished,
      begun: begun === ids.length ? undefined : begun,
    };
  }

  private *write(call: EstimateCall, isFirst: boolean): Waits<void> {
    const {text} = this;
    if (call.errorCodes !== undefined) text.text(yield* this.work(call, isFirst, this.runWitnessed));
    else if (call.kind === "call") {
      const returned = yield* this.work(call, isFirst, this.run);
      text.reserve(2 * returned.length + QUOTES_BYTES);
      text.quotedHex(returned, 0, returned.length);
    } else text.text(encodeEstimate(yield* this.work(call, isFirst, this.estimateOn)));
  }

  /** @throws CallFailure, StoreError */
  estimate(call: EstimateCall): Promise<Estimate> {
    return finish(this.work(call, false, this.estimateOn));
  }

  /** @returns what the call returns */
  private *run(evm: Evm, rules: BlockRules, _: BlockRecord, call: EstimateCall): Waits<Uint8Array> {
    const run = yield* this.runOnce(evm, rules, call);
    if (run.failure !== undefined) throw explainFailure(run);
    return checkReturned(run);
  }

  /**
   * Runs as nodes answer eth_call: it pays only if it names a price (EvmRuns: its nonce does not count).
   * @throws CallFailure EXECUTION_FAILED if the sender cannot pay; as EvmRuns.run
   */
  private *runOnce(evm: Evm, rules: BlockRules, call: EstimateCall): Waits<RunResult> {
    const {gasCap, deadline} = this;
    const {price, cap} = feeOf(call, rules.baseFee);
    // As in geth, code sees no base fee that the price does not cover.
    evm.setBlock(rules.evmRules, price === 0n ? rules.freeEvmBlock : rules.evmBlock);
    if (call.overrides !== undefined) yield* override(evm, call.overrides, deadline);
    const from = call.from ?? ZERO_ADDRESS;
    const gas = call.gas === undefined || call.gas > gasCap ? gasCap : call.gas;
    if (cap > 0n) checkFeeCap(cap, rules);
    const [has, needs] = [evm.readBalance(from), gas * cap + call.value];
    if (has < needs)
      throw executionFailed(
        `insufficient funds for gas * price + value: address ${toHex(from)} have ${has} want ${needs}`,
      );
    return yield* new EvmRuns(call, evm, rules, price, deadline).run(gas);
  }

  /** @returns JSON text of the answer to proof_call */
  private *runWitnessed(_: Evm, rules: BlockRules, block: BlockRecord, call: EstimateCall): Waits<string> {
    const witness = new CallWitness(this.store, block, MAX_WITNESS_BYTES);
    const evm = this.witnessEvm ?? new Evm(work => this.deadline.exclude(work));
    // Kept only if the run ends as it should.
    this.witnessEvm = undefined;
    evm.moveTo(witness.state, true);
    const run = yield* this.runOnce(evm, rules, call);
    this.witnessEvm = evm;
    if (run.failure === undefined)
      return `{"result":"${toHex(checkReturned(run))}","witness":${witness.encode()}}`;
    const failed = explainFailure(run);
    const {failure} = failed;
    if (run.failure.kind === "intrinsic") throw failed;
    if (failure.failure !== "REVERTED" && failure.failure !== "EXECUTION_FAILED") throw failed;
    const {detail: message} = failure;
    const data = failure.failure === "REVERTED" ? failure.data : undefined;
    const error = JSON.stringify({code: call.errorCodes?.[failure.failure], message, data});
    return `{"error":${error},"witness":${witness.encode()}}`;
  }

  /** @throws CallFailure, StoreError */
  private *work<T>(call: EstimateCall, isFirst: boolean, work: EvmWork<T>): Waits<T> {
    try {
      return yield* this.workAt(call, isFirst, work);
    } catch (error) {
      if (call.isLatest !== true || !(error instanceof StoreError) || error.code !== "BLOCK_UNKNOWN")
        throw error;
      let {block} = call;
      while (block >= 0 && this.store.readBlock(block) === undefined) block--;
      if (block < 0) throw error;
      return yield* this.work({...call, block}, isFirst, work);
    }
  }

  private *workAt<T>(call: EstimateCall, isFirst: boolean, work: EvmWork<T>): Waits<T> {
    const block = this.blocks.at(call.block);
    this.deadline.start(isFirst ? FIRST_SLICE : undefined);
    try {
      if (isFirst && call.data.length > MAX_FIRST_DATA_BYTES) throw new TimeLimitError(0, 0, true);
      return yield* this.workOnEvm(block, call, work);
    } catch (error) {
      if (isDamage(error)) this.requireStored(block);
      throw error;
    }
  }

  private *workOnEvm<T>(block: BlockRecord, call: EstimateCall, work: EvmWork<T>): Waits<T> {
    const {number} = block.header;
    if (number > this.plainUntil && this.store.readSlice() !== undefined) throw refuseSlices(call);
    const evm = this.evms.at(block);
    const mark = evm.checkpoint();
    try {
      // A nonce never falls, so one reading is enough for all earlier blocks.
      if (number > this.plainUntil) {
        if (evm.readNonce(L1_ATTRIBUTES_DEPOSITOR) > 0n) throw refuseOpStack(call);
        if (this.blocks.isFinalized(number)) this.plainUntil = number;
      }
      const rules = this.rules.at(block, call);
      checkType(call, rules);
      const result = yield* work.call(this, evm, rules, block, call);
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

  private *estimateOn(evm: Evm, rules: BlockRules, block: BlockRecord, call: EstimateCall): Waits<Estimate> {
    evm.setBlock(rules.evmRules, rules.evmBlock);
    if (call.overrides !== undefined) yield* override(evm, call.overrides, this.deadline);
    const {price, cap: feeCap} = feeOf(call, rules.baseFee);
    const runs = new EvmRuns(call, evm, rules, price, this.deadline);
    const {nonce, balance, isPlainTransfer} = runs.readStart();
    checkNonce(call, nonce);
    const bounds = {block: rules, gasCap: this.gasCap, feeCap, balance};
    const upper = upperBound(call, bounds);
    const limit = yield* searchGasLimit(gasLimit => runs.run(gasLimit), {
      upper,
      isPlainTransfer,
      tolerance: this.settings.gasTolerance,
    });
    if (typeof limit !== "bigint") {
      // A call that reverts says so, even if its own limit ends it before.
      const most = upperBound({...call, gas: undefined}, bounds);
      const withMost = upper < most && limit.failure?.kind !== "revert" ? yield* runs.run(most) : limit;
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
