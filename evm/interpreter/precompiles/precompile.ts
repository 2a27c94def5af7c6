/** A precompile that the host runs, if necessary in parts between which the thread can do other work. */

/** How long the next part takes: less than 1 ms, or up to about 20 ms. */
export type PartTime = "short" | "long";
type Parts<Result> = Generator<PartTime, Result, void>;

export interface Precompile {
  /** @param isOsaka - whether the rules are those of osaka or later */
  price(data: Uint8Array, isOsaka: boolean): bigint;
  /** Called after payment. @returns the output; a generator of it if that may take long. @throws PrecompileRefusal */
  run(data: Uint8Array, isOsaka: boolean): Uint8Array | Parts<Uint8Array>;
}

/** "failed": the input is invalid. "outOfGas": the price exceeds the gas of the call. */
export type PrecompileAnswer = {readonly gas: bigint; readonly output: Uint8Array} | "failed" | "outOfGas";

/** The input is invalid. The call fails and uses all its gas. */
export class PrecompileRefusal extends Error {}

export function require(holds: boolean, rule: string): void {
  if (!holds) throw new PrecompileRefusal(rule);
}

/** @param data - must not change until the last part */
export function* runPrecompile(
  precompile: Precompile,
  data: Uint8Array,
  gas: bigint,
  isOsaka: boolean,
): Parts<PrecompileAnswer> {
  const price = precompile.price(data, isOsaka);
  if (price > gas) return "outOfGas";
  try {
    const output = precompile.run(data, isOsaka);
    return {gas: price, output: output instanceof Uint8Array ? output : yield* output};
  } catch (error) {
    if (error instanceof PrecompileRefusal) return "failed";
    throw error;
  }
}
