/** What costs much is tried a little by `npm test` and at length by `npm run test:soak`. */
import fc from "fast-check";

/** A factor for all of it, such as 10, or 0.5 for a first look. Lists are used whole where it is above 1. */
const FACTOR = "SOAK";

/**
 * How often a costly property is tried. Each run takes random input of its own, so runs add up.
 *
 * @param usual - runs in `npm test`
 * @returns at least 1
 * @throws if the variable is no positive number
 */
export function propertyRuns(usual: number): number {
  return Math.max(1, Math.round(usual * readFactor()));
}

/** @returns the same inputs each time. As examples of a property they make certain that something is counted of its random inputs */
export function sameExamples<Input>(inputs: fc.Arbitrary<Input>, numRuns: number): Input[] {
  return fc.sample(inputs, {numRuns, seed: 3});
}

/** @returns every `step`th from the first on, all in a soak */
export function sampleOf<T>(all: readonly T[], step: number): readonly T[] {
  return isSoak() ? all : all.filter((_, at) => at % step === 0);
}

export function isSoak(): boolean {
  return readFactor() > 1;
}

function readFactor(): number {
  const text = process.env[FACTOR] ?? "1";
  const factor = Number(text);
  if (!(factor > 0 && factor <= 1000))
    throw new Error(`expected ${FACTOR} to be a factor above 0, at most 1000, got '${text}'`);
  return factor;
}
