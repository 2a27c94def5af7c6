/**
 * Answers the calls of an EstimateJob: gas limit, base fee and priority fee of each, as a whole JSON-RPC response in text.
 *
 *   call -> EVM at its block -> overrides -> what the sender can pay -> gas search (runs) -> priority fee -> text
 */
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {isDamage, StoreError} from "../../storage/errors.ts";
import {encodeResponse, SEPARATOR} from "../job/answers.ts";
import type {EstimateCall} from "../job/estimateCall.ts";
import type {EstimateAnswers, EstimateJob, EstimateSlice} from "../job/estimateJob.ts";
import type {EstimateSettings} from "../job/estimateSettings.ts";
import {JOB_MS, SLICES} from "../job/estimateSlices.ts";
import {type Failure, failureOf} from "../job/failure.ts";
import {encodeUnsigned, feeOf, missingEip, typeOf} from "./call/callTransaction.ts";
import {explainFailure} from "./call/failedRun.ts";
import {searchGasLimit} from "./call/gasSearch.ts";
import {checkNonce, upperBound} from "./call/senderBounds.ts";
import {Simulation} from "./call/simulation.ts";
import {Deadline, TimeLimitError} from "./evm/deadline.ts";
import {EstimateError} from "./evm/estimateError.ts";
import {BASE_FEE, type BlockContext, type ForkEvm, ForkEvms, resetEvm} from "./evm/forkEvms.ts";
import {compressedSize} from "./fee/compressedSize.ts";
import {PriorityFee} from "./fee/priorityFee.ts";

/** Longest call data for a first slice. With more, the work after execution takes too long and never checks the deadline. */
const MAX_FIRST_DATA_BYTES = 32 << 10;

export interface Estimate {
  readonly gasLimit: bigint;
  /** Wei per gas. */
  readonly priorityFeePerGas: bigint;
  readonly runs: number;
}

export class Estimator {
  private readonly gasCap: bigint;
  private readonly deadline: Deadline;
  private readonly evms: ForkEvms;
  private readonly priorityFee: PriorityFee;

  /** @param chainId - the chain id if block 0 names none */
  constructor(
    private readonly store: StateReader,
    private readonly settings: EstimateSettings,
    chainId: bigint | undefined,
  ) {
    this.gasCap = BigInt(settings.gasCap);
    this.deadline = new Deadline(settings.timeMs);
    this.evms = new ForkEvms({
      store,
      deadline: this.deadline,
      hardfork: settings.hardfork,
      chainId,
      gasCap: this.gasCap,
    });
    this.priorityFee = new PriorityFee(settings.fee);
  }

  async answer({calls, ids, slice}: EstimateJob): Promise<EstimateAnswers> {
    const startedMs = performance.now();
    const unfinished: number[] = [];
    let begun = 0;
    const texts: Buffer[] = [];
    const ends = new Uint32Array(calls.length);
    const failures: (Failure & {call: number})[] = [];
    let end = 0;
    for (let call = 0; call < calls.length; call++) {
      if (slice !== undefined && call > 0 && performance.now() - startedMs >= JOB_MS) break;
      begun++;
      try {
        const text = Buffer.from(
          encodeAnswer(ids[call] as string, await this.estimate(calls[call] as EstimateCall, slice)),
        );
        texts.push(text);
        end += text.length;
      } catch (error) {
        if (slice !== undefined && error instanceof TimeLimitError) unfinished.push(call);
        else failures.push({call, ...failureOfEstimate(error)});
      }
      ends[call] = end;
    }
    ends.fill(end, begun);
    return {text: new Uint8Array(Buffer.concat(texts)), ends, failures, unfinished, begun};
  }

  /** @throws EstimateError, TimeLimitError, StoreError */
  async estimate(call: EstimateCall, slice?: EstimateSlice): Promise<Estimate> {
    try {
      return await this.estimateAt(call, slice);
    } catch (error) {
      if (call.isLatest !== true || !(error instanceof StoreError) || error.code !== "BLOCK_UNKNOWN")
        throw error;
      let {block} = call;
      while (block >= 0 && this.store.readBlock(block) === undefined) block--;
      if (block < 0) throw error;
      return this.estimate({...call, block}, slice);
    }
  }

  private async estimateAt(call: EstimateCall, slice?: EstimateSlice): Promise<Estimate> {
    const block = this.store.blockOrThrow(call.block);
    const {forkEvm, context} = this.evms.at(block);
    this.deadline.start(slice === undefined ? undefined : SLICES[slice]);
    try {
      if (slice === "first" && call.data.length > MAX_FIRST_DATA_BYTES) throw new TimeLimitError(0, 0);
      return await this.estimateOn(forkEvm, context, block, call);
    } catch (error) {
      if (error instanceof TimeLimitError) resetEvm(forkEvm);
      else if (!(error instanceof EstimateError)) this.evms.discard(forkEvm);
      if (isDamage(error)) this.requireHeld(block);
      throw error;
    }
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
    forkEvm: ForkEvm,
    context: BlockContext,
    block: BlockRecord,
    call: EstimateCall,
  ): Promise<Estimate> {
    const {common} = forkEvm;
    const type = typeOf(call, common);
    const eip = missingEip(type, common);
    if (eip !== undefined) {
      const detail = `transactions of type ${type} need EIP-${eip}, which block ${call.block} (${common.hardfork()}) does not have`;
      throw new EstimateError({failure: "CALL_INVALID", detail});
    }
    await forkEvm.state.override(call.overrides ?? []);
    const fee = feeOf(call, context.header.baseFeePerGas);
    const simulation = new Simulation(call, forkEvm, context, fee.price);
    const account = await simulation.senderAccount();
    checkNonce(call, account.nonce);
    const upper = upperBound(call, {
      block: context,
      gasCap: this.gasCap,
      feeCap: fee.cap,
      balance: account.balance,
      hasTransactionCap: common.isActivatedEIP(7825),
    });
    const limit = await searchGasLimit(gasLimit => simulation.run(gasLimit), {
      upper,
      isPlainTransfer: await simulation.isPlainTransfer(),
      tolerance: this.settings.gasTolerance,
    });
    if (typeof limit !== "bigint") throw explainFailure(limit, upper);
    const unsigned = encodeUnsigned(call, type, account.nonce, limit, forkEvm.chainId);
    const priorityFeePerGas = this.priorityFee.of({
      gasLimit: limit,
      compressedSize: compressedSize(simulation.sender.bytes, unsigned),
      baseFee: BASE_FEE,
      extraData: block.header.extraData,
    });
    return {gasLimit: limit, priorityFeePerGas, runs: simulation.runs};
  }
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
