/**
 * The precompiles that our own EVM leaves to others: those of @ethereumjs. They are loaded with the first call of one.
 */
import type {EVM, ExecResult} from "@ethereumjs/evm";
import type {PrecompileHost, PrecompileOutput} from "../evm/precompileHost.ts";
import type {ForkSchedule} from "./forkSchedule.ts";

export class LibraryPrecompiles implements PrecompileHost {
  /** Of one fork. */
  private opened: {readonly fork: string; readonly evm: EVM} | undefined;

  /** @param fork - returns that of the block that is executed */
  constructor(
    private readonly forks: ForkSchedule,
    private readonly fork: () => string,
  ) {}

  async run(
    address: number,
    data: Uint8Array,
    gasLimit: bigint,
  ): Promise<PrecompileOutput | "failed" | "outOfGas"> {
    const fork = this.fork();
    if (this.opened?.fork !== fork) this.opened = {fork, evm: await this.open(fork)};
    const {evm} = this.opened;
    const name = `0x${address.toString(16).padStart(40, "0")}` as const;
    const precompile = evm.getPrecompile(name);
    if (precompile === undefined) throw new Error(`the library has no precompile ${name} under ${fork}`);
    return outputOf(await precompile({data, gasLimit, common: evm.common, _EVM: evm}));
  }

  private async open(fork: string): Promise<EVM> {
    const [{createEVM}, {createChainRules}] = await Promise.all([
      import("@ethereumjs/evm"),
      import("./chainRules.ts"),
    ]);
    const common = createChainRules(this.forks);
    common.setHardfork(fork);
    return createEVM({common});
  }
}

/** What a precompile of the library gave, for our EVM. */
export function outputOf(result: ExecResult): PrecompileOutput | "failed" | "outOfGas" {
  if (result.exceptionError !== undefined)
    return result.exceptionError.error === "out of gas" ? "outOfGas" : "failed";
  return {gas: result.executionGasUsed, output: result.returnValue};
}
