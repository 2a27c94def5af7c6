/** Two estimators that make estimates together: each call is paused again and again, and goes on in the other one. */
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {Deadline, TimeLimitError} from "../../../workers/estimate/call/deadline.ts";
import {type Estimate, Estimator} from "../../../workers/estimate/estimator.ts";
import {Evm} from "../../../workers/evm/evm.ts";
import type {EstimateCall} from "../../../workers/job/estimateCall.ts";
import type {EstimateSettings} from "../../../workers/job/estimateSettings.ts";
import {memoryOf, type PausedEstimate} from "../../../workers/job/pausedEstimate.ts";

/** So that a run of many steps comes to its end. */
const GROWTH = 1.03;
/** Enough time for the largest copy. */
const USED_MS = 1000;

export class MovedEstimates {
  moves = 0;
  restarts = 0;
  private readonly estimators: readonly [Estimator, Estimator];

  constructor(reader: StateReader, settings: EstimateSettings, chainId: bigint) {
    const create = () => new Estimator(reader, settings, chainId);
    this.estimators = [create(), create()];
  }

  /** @param steps - after which the first pause comes, and before each precompile of the host. @throws as Estimator.estimate */
  async estimate(call: EstimateCall, steps: number): Promise<Estimate> {
    const {goOn, resume, answerPrecompile} = Evm.prototype;
    const usedMs = Object.getOwnPropertyDescriptor(Deadline.prototype, "usedMs") as PropertyDescriptor;
    let most = steps;
    let isAnswered = false;
    // The end of a slice, wherever it may come.
    const endSlice = (): never => {
      most = Math.ceil(most * GROWTH);
      throw new TimeLimitError(0, 0, true);
    };
    Evm.prototype.goOn = function () {
      let checks = 0;
      return goOn.call(this, () => checks++ > 0 && endSlice());
    };
    Evm.prototype.resume = function (atOnce) {
      return resume.call(this, Math.min(atOnce, most));
    };
    Evm.prototype.answerPrecompile = async function () {
      isAnswered = !isAnswered;
      return isAnswered ? endSlice() : answerPrecompile.call(this);
    };
    Object.defineProperty(Deadline.prototype, "usedMs", {get: () => USED_MS, configurable: true});
    try {
      return await this.move(call);
    } finally {
      Object.assign(Evm.prototype, {goOn, resume, answerPrecompile});
      Object.defineProperty(Deadline.prototype, "usedMs", usedMs);
    }
  }

  private async move(call: EstimateCall): Promise<Estimate> {
    let paused: PausedEstimate | undefined;
    for (;;) {
      const estimator = this.estimators[this.moves % 2] as Estimator;
      try {
        return await estimator.estimate(call, "second", paused);
      } catch (error) {
        if (!(error instanceof TimeLimitError)) throw error;
        paused = error.paused;
        if (paused === undefined) this.restarts++;
        else paused = structuredClone(paused, {transfer: [memoryOf(paused).buffer]});
        this.moves++;
      }
    }
  }
}
