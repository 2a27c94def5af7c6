/**
 * @ethereumjs' EVM with a deadline inside its loop: every loop passes a JUMPDEST, every call and creation a message,
 * every long computation one of a few precompiles. What is left between two of them is straight code, which its gas bounds.
 */
import {
  EVM,
  type EVMOpts,
  type EVMResult,
  type EVMRunCallOpts,
  NobleBN254,
  type PrecompileFunc,
} from "@ethereumjs/evm";
import type {Deadline} from "./deadline.ts";
import {keepJumpAnalyses} from "./jumpAnalyses.ts";

export interface BoundedEvmOptions
  extends Pick<EVMOpts, "common" | "stateManager" | "blockchain" | "cliqueSigner"> {
  readonly deadline: Deadline;
}

const JUMPDEST = 0x5b;
/** 256 of the cheapest loops take some 0.2 ms. */
const LOOPS_PER_CHECK = 256;
/** Time grows with the input, up to minutes at 50 million gas: modexp, bn254 pairing, blake2f, BLS12-381 MSMs and pairing. */
const LONG_PRECOMPILES = ["05", "08", "09", "0c", "0e", "0f"].map(end => end.padStart(40, "0"));

export class BoundedEvm extends EVM {
  private readonly deadline: Deadline;
  private readonly longPrecompiles: ReadonlySet<PrecompileFunc>;
  private loops = 0;

  constructor({deadline, ...options}: BoundedEvmOptions) {
    super({...options, bn254: new NobleBN254()});
    this.deadline = deadline;
    this.longPrecompiles = new Set(
      LONG_PRECOMPILES.map(address => this.precompiles.get(address)).filter(code => code !== undefined),
    );
    this.watchLoops();
  }

  override async runCall(options: EVMRunCallOpts): Promise<EVMResult> {
    this.deadline.check();
    return super.runCall(options);
  }

  protected override runPrecompile(
    code: PrecompileFunc,
    data: Uint8Array,
    gasLimit: bigint,
  ): ReturnType<EVM["runPrecompile"]> {
    if (!this.longPrecompiles.has(code)) return super.runPrecompile(code, data, gasLimit);
    return this.deadline.run(() => super.runPrecompile(code, data, gasLimit));
  }

  private watchLoops(): void {
    const entry = this._opcodeMap[JUMPDEST];
    if (entry === undefined) throw new Error("the EVM has no JUMPDEST");
    const watch = (): void => {
      this.loops = (this.loops + 1) % LOOPS_PER_CHECK;
      if (this.loops === 0) this.deadline.check();
    };
    const watched: typeof entry = {
      ...entry,
      opHandler: ({interpreter}) => {
        keepJumpAnalyses(this, interpreter);
        watched.opHandler = watch;
      },
    };
    this._opcodeMap[JUMPDEST] = watched;
  }
}
