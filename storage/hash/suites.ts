/**
 * The hash suites that a store can have. A new suite is a file next to sha256Suite.ts and a line here.
 */
import {sha256Suite} from "./sha256Suite.ts";
import type {HashSuite} from "./suite.ts";

/** The suite of a new store for which none is named. */
export const DEFAULT_SUITE: HashSuite = sha256Suite;

const SUITES: readonly HashSuite[] = [sha256Suite];

export const SUITE_NAMES: readonly string[] = SUITES.map(suite => suite.name);

export function findSuite(name: string): HashSuite | undefined {
  return SUITES.find(suite => suite.name === name);
}
