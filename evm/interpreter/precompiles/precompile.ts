/** A precompile that the interpreter leaves to the host, what bounds it, and how it runs. */

export interface Precompile {
  /** @param isOsaka - the prices from osaka on */
  price(data: Uint8Array, isOsaka: boolean): bigint;
  /** It is paid for already. @throws PrecompileRefusal, and what the bounds throw */
  run(data: Uint8Array, isOsaka: boolean, bounds: PrecompileBounds): Uint8Array;
  /** It is one long synchronous call, which cannot check its bounds. */
  readonly isLong?: boolean;
}

/** What stops a precompile that runs long. Each may throw; the run of the EVM ends then. */
export interface PrecompileBounds {
  /** Called inside loops. */
  check(): void;
  /** Runs a long one. It may be ended in the middle and begun again. */
  run<T>(work: () => T): T;
  /** Work that no call pays for. */
  exclude<T>(work: () => Promise<T>): Promise<T>;
}

/** Gas alone bounds it. */
export const BY_GAS: PrecompileBounds = {
  check: () => {},
  run: work => work(),
  exclude: work => work(),
};

/** Its input is none. The call that made it fails, and all its gas is gone. */
export class PrecompileRefusal extends Error {}

export function require(holds: boolean, rule: string): void {
  if (!holds) throw new PrecompileRefusal(rule);
}

/**
 * @param data - it is kept in parts
 * @returns "failed": it refuses its input; "outOfGas": it takes more than `gas`
 * @throws what the bounds throw
 */
export function runPrecompile(
  precompile: Precompile,
  data: Uint8Array,
  gas: bigint,
  isOsaka: boolean,
  bounds: PrecompileBounds,
): {readonly gas: bigint; readonly output: Uint8Array} | "failed" | "outOfGas" {
  const price = precompile.price(data, isOsaka);
  if (price > gas) return "outOfGas";
  const run = (): Uint8Array => precompile.run(data, isOsaka, bounds);
  try {
    return {gas: price, output: precompile.isLong === true ? bounds.run(run) : run()};
  } catch (error) {
    if (error instanceof PrecompileRefusal) return "failed";
    throw error;
  }
}
