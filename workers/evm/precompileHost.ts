/** The precompiles that the interpreter leaves to the host. */

export interface PrecompileOutput {
  readonly gas: bigint;
  readonly output: Uint8Array;
}

export interface PrecompileHost {
  /**
   * @param address - its number
   * @param data - a copy
   * @returns "failed": it refuses its input; "outOfGas": it takes more than `gas`
   */
  run(
    address: number,
    data: Uint8Array,
    gas: bigint,
  ): Promise<PrecompileOutput | "failed" | "outOfGas"> | PrecompileOutput | "failed" | "outOfGas";
}
