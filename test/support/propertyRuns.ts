/** How often a costly property is tried. Each run of the suite takes random input of its own, so runs add up. */

/** A factor for all of them, such as 5 before a release or 0.5 for a first look. */
const FACTOR = "PROPERTY_RUNS";

/**
 * @param usual - runs in `npm test`
 * @returns at least 1
 * @throws if the variable is no positive number
 */
export function propertyRuns(usual: number): number {
  const text = process.env[FACTOR] ?? "1";
  const factor = Number(text);
  if (!(factor > 0 && factor <= 1000))
    throw new Error(`${FACTOR} is '${text}': expected a factor above 0, at most 1000`);
  return Math.max(1, Math.round(usual * factor));
}
