/**
 * The hash suites that a store can have. A new suite is a file next to sha256Suite.ts, a name in suiteNames.ts and a line here.
 */
import {poseidon2Suite} from "./poseidon2Suite.ts";
import {sha256Suite} from "./sha256Suite.ts";
import type {HashSuite} from "./suite.ts";
import type {SuiteName} from "./suiteNames.ts";

const SUITES: Readonly<Record<SuiteName, HashSuite>> = {sha256: sha256Suite, poseidon2: poseidon2Suite};

export function findSuite(name: string): HashSuite | undefined {
  return Object.hasOwn(SUITES, name) ? SUITES[name as SuiteName] : undefined;
}
