/** What the key table of a tree part says about its leaves (docs/proofs.md, section 9.2): the role of each. */
import {check} from "../proof/strictJson.ts";
import type {KeyPlace} from "./treePart.ts";

export type LeafRole = "own" | "end" | "neighbour";

/**
 * Checks 5, 7 and 10 of docs/proofs.md, section 10, as far as they are about roles.
 *
 * @param leafIndexes - of the part's leaves
 * @returns the role of each leaf
 * @throws ProofError if the table names a leaf that is not there, leaves one out, or puts a key at head or tail
 */
export function assignRoles(
  at: string,
  keys: readonly KeyPlace[],
  leafIndexes: readonly number[],
): readonly LeafRole[] {
  const roles = new Array<LeafRole | undefined>(leafIndexes.length).fill(undefined);
  const indexOf = (leaf: number): number => {
    const leafIndex = leafIndexes[leaf];
    check(leafIndex !== undefined, at, `the key table names leaf ${leaf} of ${leafIndexes.length}`);
    return leafIndex;
  };
  for (const place of keys)
    if ("leaf" in place) {
      check(indexOf(place.leaf) >= 2, at, "head or tail stands for a key");
      roles[place.leaf] = "own";
    } else
      for (const leaf of [place.left, place.right]) {
        const role = indexOf(leaf) < 2 ? "end" : "neighbour";
        roles[leaf] ??= role;
      }
  return roles.map((role, leaf) => {
    check(role !== undefined, at, `leaf ${leaf} serves no key`);
    return role;
  });
}

/** @returns for each leaf the numbers of the present keys that name it, ascending */
export function keysOfLeaves(keys: readonly KeyPlace[], leaves: number): readonly (readonly number[])[] {
  const named = Array.from({length: leaves}, (): number[] => []);
  keys.forEach((place, key) => {
    if ("leaf" in place) named[place.leaf]?.push(key);
  });
  return named;
}
