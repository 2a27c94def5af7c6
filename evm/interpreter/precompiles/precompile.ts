/** A precompile that the interpreter leaves to the host, and how it runs: in parts, between which others may work. */

/** What the next part takes: under 1 ms, or up to some 20. */
export type PartTime = "short" | "long";
type Parts<Result> = Generator<PartTime, Result, void>;

export interface Precompile {
  /** @param isOsaka - the prices from osaka on */
  price(data: Uint8Array, isOsaka: boolean): bigint;
  /** It is paid for already. @returns the output, or its parts if it may take long. @throws PrecompileRefusal */
  run(data: Uint8Array, isOsaka: boolean): Uint8Array | Parts<Uint8Array>;
}

/** "failed": it refuses its input; "outOfGas": it takes more than the call has. */
export type PrecompileAnswer = {readonly gas: bigint; readonly output: Uint8Array} | "failed" | "outOfGas";

/** Its input is none. The call that made it fails, and all its gas is gone. */
export class PrecompileRefusal extends Error {}

export function require(holds: boolean, rule: string): void {
  if (!holds) throw new PrecompileRefusal(rule);
}

/** @param data - it is kept in parts */
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
