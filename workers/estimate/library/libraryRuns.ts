/** Runs of calls in the library's EVM: what ours declines, and forks before berlin. And the precompiles that ours leaves to it. */
import type {BlockRecord} from "../../../storage/block/blockRecord.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import type {PrecompileOutput} from "../../evm/precompileHost.ts";
import {outputOf} from "../../execution/libraryPrecompiles.ts";
import type {EstimateCall} from "../../job/estimateCall.ts";
import type {BlockRules} from "../blockRules.ts";
import type {CallRuns} from "../call/callRuns.ts";
import {type Deadline, TimeLimitError} from "../call/deadline.ts";
import {EstimateError} from "../call/estimateError.ts";
import {type ForkEvm, LibraryEvms, resetEvm} from "./libraryEvms.ts";
import {LibrarySimulation} from "./librarySimulation.ts";

export class LibraryRuns {
  private readonly evms: LibraryEvms;

  constructor(
    store: StateReader,
    private readonly deadline: Deadline,
  ) {
    this.evms = new LibraryEvms(store, deadline);
  }

  /** @param work - with the runs of the call, on the block's state with the call's overrides */
  async use<T>(
    call: EstimateCall,
    {accounts}: BlockRecord,
    rules: BlockRules,
    gasPrice: bigint,
    work: (runs: CallRuns) => Promise<T>,
  ): Promise<T> {
    const forkEvm: ForkEvm = this.evms.at(rules, accounts);
    try {
      await forkEvm.state.override(call.overrides ?? []);
      return await work(new LibrarySimulation(call, forkEvm, rules, gasPrice, this.deadline));
    } catch (error) {
      if (error instanceof TimeLimitError) resetEvm(forkEvm);
      else if (!(error instanceof EstimateError)) this.evms.discard(rules.fork);
      throw error;
    }
  }

  /** @throws TimeLimitError */
  async runPrecompile(
    {accounts}: BlockRecord,
    rules: BlockRules,
    address: number,
    data: Uint8Array,
    gas: bigint,
  ): Promise<PrecompileOutput | "failed" | "outOfGas"> {
    const evm = this.evms.of(rules, accounts);
    const name = address.toString(16).padStart(40, "0");
    const precompile = evm.precompiles.get(name);
    if (precompile === undefined)
      throw new Error(`the library has no precompile 0x${name} under ${rules.fork}`);
    return outputOf(await evm.runPrecompile(precompile, data, gas));
  }
}
