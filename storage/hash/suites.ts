/** The suites that a store can have. A new one is a file like sha256Suite.ts, a name in suiteNames.ts, a line here. */
import {poseidon2Suite} from "./poseidon2Suite.ts";
import {sha256Suite} from "./sha256Suite.ts";
import type {HashSuite} from "./suite.ts";
import type {StoreSuiteName} from "./suiteNames.ts";

/** undefined: a store without sparse trees. */
const SUITES: Readonly<Record<StoreSuiteName, HashSuite | undefined>> = {
  sha256: sha256Suite,
  poseidon2: poseidon2Suite,
  keccak: undefined,
};

export interface StoreSuite {
  readonly name: StoreSuiteName;
  readonly trees: HashSuite | undefined;
}

export function findSuite(name: string): StoreSuite | undefined {
  if (!Object.hasOwn(SUITES, name)) return undefined;
  const known = name as StoreSuiteName;
  return {name: known, trees: SUITES[known]};
}
