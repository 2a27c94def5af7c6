/**
 * @ethereumjs' EVM with a deadline that is checked inside its loop.
 *
 *   opcodes whose work grows with their input, or that read the state      before each
 *   all other opcodes                                                      every 256 of them
 *   calls and creations                                                    before each
 *   jump analyses                                                          every 16 KB of code (jumpAnalyses.ts in workers/execution)
 *   long precompiles                                                       stopped in the middle (deadline.ts, modexp.ts)
 *
 * Checks at JUMPDESTs alone would not be enough: one request can bring 2.4 MB of code without jumps, such as 500 000 SSTOREs
 * of one slot.
 */
import type {Common} from "@ethereumjs/common";
import {
  createEVM,
  EVM,
  type EVMOpts,
  type EVMResult,
  type EVMRunCallOpts,
  NobleBN254,
  type PrecompileFunc,
} from "@ethereumjs/evm";
import {Address} from "@ethereumjs/util";
import {keepJumpAnalyses} from "../../execution/jumpAnalyses.ts";
import {requireParts} from "../../execution/libraryParts.ts";
import type {Deadline} from "../call/deadline.ts";
import {createModexp} from "./modexp.ts";

interface BoundedEvmOptions extends Pick<EVMOpts, "stateManager" | "blockchain" | "cliqueSigner"> {
  readonly common: Common;
  readonly deadline: Deadline;
}

/** The library exports this type only in this way. */
type OpHandler = Extract<
  NonNullable<EVMOpts["customOpcodes"]>[number],
  {logicFunction: unknown}
>["logicFunction"];

/** 256 of the slowest opcodes with a fixed price, such as MULMOD, take about 0.1 ms. */
const STEPS_PER_CHECK = 256;
/** The one long precompile whose loop cannot be stopped from outside (modexp.ts). */
const MODEXP = new Address(new Uint8Array(20).fill(5, 19));
/**
 * bn254 pairing, blake2f, BLS12-381 MSMs and pairing: their time grows with the input, up to minutes at 50 million gas.
 * Point evaluation: its first call builds tables.
 */
const LONG_PRECOMPILES = ["08", "09", "0a", "0c", "0e", "0f"].map(end => end.padStart(40, "0"));

/** The parts of the library where the deadline is checked. @throws Error if one is missing */
export function requireBounds(evm: EVM): void {
  requireParts(evm, "the EVM", {runCall: "function", runPrecompile: "function", _opcodeMap: "object"});
  const [stop] = Reflect.get(evm, "_opcodeMap") as readonly object[];
  requireParts(stop ?? {}, "an opcode", {opHandler: "function", opcodeInfo: "object"});
}

requireBounds(await createEVM());

export class BoundedEvm extends EVM {
  private readonly deadline: Deadline;
  private readonly longPrecompiles: ReadonlySet<PrecompileFunc>;
  private stepsLeft = STEPS_PER_CHECK;

  constructor({deadline, ...options}: BoundedEvmOptions) {
    const hasModexp = options.common.gteHardfork("byzantium");
    super({
      ...options,
      bn254: new NobleBN254(),
      customPrecompiles: hasModexp ? [{address: MODEXP, function: createModexp(deadline)}] : [],
    });
    this.deadline = deadline;
    this.longPrecompiles = new Set(
      LONG_PRECOMPILES.map(address => this.precompiles.get(address)).filter(code => code !== undefined),
    );
    this.watchOpcodes();
    keepJumpAnalyses(this, deadline);
  }

  override async runCall(options: EVMRunCallOpts): Promise<EVMResult> {
    this.deadline.check();
    return super.runCall(options);
  }

  override runPrecompile(
    code: PrecompileFunc,
    data: Uint8Array,
    gasLimit: bigint,
  ): ReturnType<EVM["runPrecompile"]> {
    if (!this.longPrecompiles.has(code)) return super.runPrecompile(code, data, gasLimit);
    return this.deadline.run(() => super.runPrecompile(code, data, gasLimit));
  }

  private watchOpcodes(): void {
    this._opcodeMap = this._opcodeMap.map(entry => {
      const {opHandler, opcodeInfo} = entry;
      const isHeavy = opcodeInfo.dynamicGas || opcodeInfo.isAsync;
      return {...entry, opHandler: isHeavy ? this.watchHeavy(opHandler) : this.watchLight(opHandler)};
    });
  }

  private watchHeavy(handle: OpHandler): OpHandler {
    return (state, common) => {
      this.deadline.check();
      return handle(state, common);
    };
  }

  private watchLight(handle: OpHandler): OpHandler {
    return (state, common) => {
      if (--this.stepsLeft === 0) {
        this.stepsLeft = STEPS_PER_CHECK;
        this.deadline.check();
      }
      return handle(state, common);
    };
  }
}
