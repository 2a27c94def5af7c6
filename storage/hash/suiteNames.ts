/** The names of suites, in a file without their code, which takes tens of milliseconds to load. */

export const SUITE_NAMES = ["sha256", "poseidon2"] as const;

/** Suites that a store can have. keccak: it has Ethereum's tries only, no sparse trees. */
export const STORE_SUITE_NAMES = [...SUITE_NAMES, "keccak"] as const;

export type SuiteName = (typeof SUITE_NAMES)[number];
export type StoreSuiteName = (typeof STORE_SUITE_NAMES)[number];

export const DEFAULT_SUITE_NAME: SuiteName = "sha256";
