/** The names of the hash suites, for those who need no more than that: a suite's code takes tens of milliseconds to load. */

export const SUITE_NAMES = ["sha256", "poseidon2"] as const;

export type SuiteName = (typeof SUITE_NAMES)[number];

/** Of a store that is made without naming one. */
export const DEFAULT_SUITE_NAME: SuiteName = "sha256";
