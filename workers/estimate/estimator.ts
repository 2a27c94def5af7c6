/**
 * Answers the calls of an EstimateJob: gas limit, base fee and priority fee of each, as a whole JSON-RPC response in text.
 *
 *   call -> EVM at its block -> overrides -> what the sender can pay -> gas search (runs) -> priority fee -> text
 *
 * The EVM is ours (workers/evm). What it declines, and forks before berlin, the library's EVM runs, which is loaded then.
 */
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {isDamage, StoreError} from "../../storage/errors.ts";
import {EvmDeclined} from "../evm/ends.ts";
import type {Evm} from "../evm/evm.ts";
import {encodeResponse, SEPARATOR} from "../job/answers.ts";
import type {EstimateCall} from "../job/estimateCall.ts";
import type {EstimateAnswers, EstimateJob, EstimateSlice, UnfinishedEstimate} from "../job/estimateJob.ts";
import type {EstimateSettings} from "../job/estimateSettings.ts";
import {JOB_MS, SLICES} from "../job/estimateSlices.ts";
import {type Failure, failureOf} from "../job/failure.ts";
import type {PausedEstimate} from "../job/pausedEstimate.ts";
import {BASE_FEE, type BlockRules, ChainRules} from "./blockRules.ts";
import {type CallRuns, ZERO_ADDRESS} from "./call/callRuns.ts";
import {encodeUnsigned, feeOf, missingEip, typeOf} from "./call/callTransaction.ts";
import {Deadline, TimeLimitError} from "./call/deadline.ts";
import {EstimateError} from "./call/estimateError.ts";
import {EvmRuns, override} from "./call/evmRuns.ts";
import {explainFailure} from "./call/failedRun.ts";
import {searchGasLimit} from "./call/gasSearch.ts";
import {checkNonce, upperBound} from "./call/senderBounds.ts";
import {compressedSize} from "./fee/compressedSize.ts";
import {PriorityFee} from "./fee/priorityFee.ts";
import type {LibraryRuns} from "./library/libraryRuns.ts";
import {HeldEvms} from "./state/heldEvms.ts";

/** Longest call data for a first slice. With more, the work after execution takes too long and never checks the deadline. */
const MAX_FIRST_DATA_BYTES = 32 << 10;
/** Of finalized blocks, whose records are kept: half a KB each, 64 KB at most. */
const KEPT_BLOCKS = 64;

export interface Estimate {
  readonly gasLimit: bigint;
  /** Wei per gas. */
  readonly priorityFeePerGas: bigint;
  readonly runs: number;
}

export class Estimator {
  private readonly gasCap: bigint;
  private readonly deadline: Deadline;
  private readonly blocks: FinalizedBlocks<BlockRecord>;
  private readonly rules: ChainRules;
  private readonly evms: HeldEvms;
  private library: LibraryRuns | undefined;
  /** Why the library ran calls of this job. */
  private libraryRuns: string[] = [];
  /** What is estimated now. The EVM asks for precompiles under its rules. */
  private current: {readonly block: BlockRecord; readonly rules: BlockRules} | undefined;
  private readonly priorityFee: PriorityFee;

  /** @param chainId - the chain id if block 0 names none */
  constructor(
    private readonly store: StateReader,
    private readonly settings: EstimateSettings,
    chainId: bigint | undefined,
  ) {
    this.gasCap = BigInt(settings.gasCap);
    this.deadline = new Deadline(settings.timeMs);
    this.blocks = new FinalizedBlocks(store, record => record, KEPT_BLOCKS);
    this.rules = new ChainRules({store, hardfork: settings.hardfork, chainId, gasCap: this.gasCap});
    this.evms = new HeldEvms(store, {
      run: async (address, data, gas) => {
        if (this.current === undefined) throw new Error("a precompile was asked for outside an estimate");
        const {block, rules} = this.current;
        return (await this.openLibrary()).runPrecompile(block, rules, address, data, gas);
      },
    });
    this.priorityFee = new PriorityFee(settings.fee);
  }

  async answer({calls, ids, slice, paused}: EstimateJob): Promise<EstimateAnswers> {
    const startedMs = performance.now();
    this.libraryRuns = [];
    const unfinished: UnfinishedEstimate[] = [];
    let begun = 0;
    const texts: Buffer[] = [];
    const ends = new Uint32Array(calls.length);
    const failures: (Failure & {call: number})[] = [];
    let end = 0;
    for (let call = 0; call < calls.length; call++) {
      if (slice !== undefined && call > 0 && performance.now() - startedMs >= JOB_MS) break;
      begun++;
      try {
        const estimate = await this.estimate(calls[call] as EstimateCall, slice, paused);
        const text = Buffer.from(encodeAnswer(ids[call] as string, estimate));
        texts.push(text);
        end += text.length;
      } catch (error) {
        if (error instanceof TimeLimitError && error.hasMore) unfinished.push({call, paused: error.paused});
        else failures.push({call, ...failureOfEstimate(error)});
      }
      ends[call] = end;
    }
    ends.fill(end, begun);
    return {
      text: new Uint8Array(Buffer.concat(texts)),
      ends,
      failures,
      unfinished,
      begun,
      libraryRuns: this.libraryRuns,
    };
  }

  /** @throws EstimateError, TimeLimitError, StoreError */
  async estimate(call: EstimateCall, slice?: EstimateSlice, paused?: PausedEstimate): Promise<Estimate> {
    try {
      return await this.estimateAt(call, slice, paused);
    } catch (error) {
      if (call.isLatest !== true || !(error instanceof StoreError) || error.code !== "BLOCK_UNKNOWN")
        throw error;
      let {block} = call;
      while (block >= 0 && this.store.readBlock(block) === undefined) block--;
      if (block < 0) throw error;
      return this.estimate({...call, block}, slice);
    }
  }

  private async estimateAt(
    call: EstimateCall,
    slice: EstimateSlice | undefined,
    last: PausedEstimate | undefined,
  ): Promise<Estimate> {
    const block = this.blocks.at(call.block);
    // After a rollback another block may have its number. There the call begins again.
    const paused =
      last !== undefined && Buffer.compare(last.block, block.header.hash) === 0 ? last : undefined;
    const rules = this.rules.at(block);
    this.current = {block, rules};
    this.deadline.start(slice === undefined ? undefined : SLICES[slice], paused?.usedMs);
    try {
      if (slice === "first" && call.data.length > MAX_FIRST_DATA_BYTES) throw new TimeLimitError(0, 0, true);
      checkType(call, rules);
      if (rules.evmRules === undefined) return await this.estimateByLibrary(block, rules, call, "fork");
      try {
        return await this.estimateByEvm(block, rules, call, paused);
      } catch (error) {
        if (!(error instanceof EvmDeclined)) throw error;
        return await this.estimateByLibrary(block, rules, call, error.reason);
      }
    } catch (error) {
      if (isDamage(error)) this.requireHeld(block);
      throw error;
    }
  }

  private async estimateByEvm(
    block: BlockRecord,
    rules: BlockRules,
    call: EstimateCall,
    paused: PausedEstimate | undefined,
  ): Promise<Estimate> {
    const {evmRules, evmBlock} = rules;
    if (evmRules === undefined) throw new Error(`the EVM does not know ${rules.fork}`);
    const evm: Evm = this.evms.at(block.accounts, paused?.runs.run);
    evm.setBlock(evmRules, evmBlock);
    const mark = paused?.mark ?? evm.checkpoint();
    let runs: EvmRuns | undefined;
    try {
      if (paused === undefined) override(evm, call.overrides ?? []);
      const {price} = feeOf(call, rules.baseFee);
      runs = new EvmRuns(call, evm, rules, price, this.deadline, paused?.runs);
      const estimate = await this.estimateOn(runs, block, rules, call);
      evm.revertTo(mark);
      return estimate;
    } catch (error) {
      const isExpected =
        error instanceof EstimateError || error instanceof TimeLimitError || error instanceof StoreError;
      // Any other error, EvmDeclined among them, may have come in the middle of a change of the EVM's tables.
      if (isExpected) evm.revertTo(mark);
      else this.evms.discard(evm);
      if (error instanceof TimeLimitError && runs?.paused !== undefined) {
        const {limitMs, gotMs, hasMore} = error;
        const {usedMs} = this.deadline;
        const hash = new Uint8Array(block.header.hash);
        throw new TimeLimitError(limitMs, gotMs, hasMore, {block: hash, usedMs, runs: runs.paused, mark});
      }
      throw error;
    }
  }

  private async estimateByLibrary(
    block: BlockRecord,
    rules: BlockRules,
    call: EstimateCall,
    reason: string,
  ): Promise<Estimate> {
    const library = await this.openLibrary();
    const {price} = feeOf(call, rules.baseFee);
    let isOver = true;
    try {
      return await library.use(call, block, rules, price, runs => this.estimateOn(runs, block, rules, call));
    } catch (error) {
      isOver = !(error instanceof TimeLimitError && error.hasMore);
      throw error;
    } finally {
      // Of its slices, the last one counts.
      if (isOver) this.libraryRuns.push(reason);
    }
  }

  /** Loads it the first time: 0.3 s of processor time, which are not the call's. */
  private async openLibrary(): Promise<LibraryRuns> {
    this.library ??= await this.deadline.exclude(async () => {
      const {LibraryRuns} = await import("./library/libraryRuns.ts");
      return new LibraryRuns(this.store, this.deadline);
    });
    return this.library;
  }

  /**
   * A rollback removes a block's pages, and so does pruning.
   *
   * @throws StoreError BLOCK_UNKNOWN if this block was rolled back, BLOCK_PRUNED
   */
  private requireHeld({header: {number, hash}}: BlockRecord): void {
    this.store.refusePruned(number);
    const held = this.store.readBlock(number)?.header.hash;
    if (held === undefined || Buffer.compare(held, hash) !== 0)
      throw new StoreError("BLOCK_UNKNOWN", `block ${number} was rolled back`);
  }

  private async estimateOn(
    runs: CallRuns,
    block: BlockRecord,
    rules: BlockRules,
    call: EstimateCall,
  ): Promise<Estimate> {
    const {nonce, balance, isPlainTransfer} = await runs.readStart();
    checkNonce(call, nonce);
    const feeCap = feeOf(call, rules.baseFee).cap;
    const upper = upperBound(call, {block: rules, gasCap: this.gasCap, feeCap, balance});
    const limit = await searchGasLimit(gasLimit => runs.run(gasLimit), {
      ...{upper, isPlainTransfer},
      tolerance: this.settings.gasTolerance,
    });
    if (typeof limit !== "bigint") throw explainFailure(limit, upper);
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

/** @throws EstimateError CALL_INVALID if the block's fork does not have the transaction type */
function checkType(call: EstimateCall, {rules, fork}: BlockRules): void {
  const type = typeOf(call, rules);
  const eip = missingEip(type, rules);
  if (eip === undefined) return;
  const detail = `transactions of type ${type} need EIP-${eip}, which block ${call.block} (${fork}) does not have`;
  throw new EstimateError({failure: "CALL_INVALID", detail});
}

function failureOfEstimate(error: unknown): Failure {
  if (error instanceof EstimateError) return error.failure;
  if (error instanceof TimeLimitError)
    return {failure: "LIMIT_EXCEEDED", detail: error.message, limit: error.limitMs, got: error.gotMs};
  return failureOf(error);
}

function encodeAnswer(idText: string, {gasLimit, priorityFeePerGas}: Estimate): string {
  const result = `{"baseFeePerGas":"${hex(BASE_FEE)}","gasLimit":"${hex(gasLimit)}","priorityFeePerGas":"${hex(priorityFeePerGas)}"}`;
  return encodeResponse(idText, "result", result) + SEPARATOR;
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
