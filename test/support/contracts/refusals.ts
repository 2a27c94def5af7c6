/** By which error of IProofVerifier.sol a contract refuses a proof in which one thing is wrong. */
const ERRORS: readonly (readonly [complaint: RegExp, error: string])[] = [
  [/for a proof of/, "NotAnAccountProof"],
  [/expected \d+ bytes?, got/, "ProofTooShort"],
  [/expected 1 to \d+ leaves/, "LeafCountOutOfRange"],
  [/nextFreeNode is below/, "NextFreeNodeTooSmall"],
  [/the number of a leaf/, "NoSuchLeaf"],
  [/names the leaf of another key/, "LeafOfTwoKeys"],
  [/serves no key/, "LeafWithoutKey"],
  [/leaf indexes do not ascend/, "LeafIndexesNotAscending"],
  [/(leaf index|prev|next) is not below nextFreeNode/, "PositionNotInTree"],
  [/head or tail stands for a key/, "KeyAtHeadOrTail"],
  [/continues beyond head or tail/, "ListBeyondItsEnd"],
  [/a number/, "NumberNotCanonical"],
  [/a slot is stored as zero/, "PresentSlotIsZero"],
  [/codeSize is zero/, "CodeSizeIsZero"],
  [/storageRoot of a new tree is sent/, "StorageRootOfNewTree"],
  [/no digest of the suite/, "NotADigest"],
  [/that other leaves give|above the leaf's way/, "UnreadBitmapBit"],
  [/an empty sibling/, "EmptySiblingSent"],
  [/lies at or beyond nextFreeNode/, "SiblingBeyondNextFreeNode"],
  [/fold to the trusted root/, "RootMismatch"],
  [/is not (below|above) the key's/, "KeyNotBetweenLeaves"],
  [/of the (left|right) leaf is not the/, "LeavesNotNeighbours"],
  [/the end of the proof/, "TrailingBytes"],
];

/**
 * The checks that client/ makes while it reads, before all others. A contract makes all checks in one pass, so it may come to another
 * flaw of the same proof first.
 */
const READING_ERRORS: ReadonlySet<string> = new Set([
  "ProofTooShort",
  "LeafCountOutOfRange",
  "NoSuchLeaf",
  "LeafWithoutKey",
  "KeyAtHeadOrTail",
  "NumberNotCanonical",
  "PresentSlotIsZero",
  "CodeSizeIsZero",
  "StorageRootOfNewTree",
  "TrailingBytes",
]);

/** @returns whether a contract's error is the one for the complaint of client/, or the proof may have other flaws as well */
export function agrees(complaint: string, error: string): boolean {
  const expected = errorFor(complaint);
  return error === expected || READING_ERRORS.has(expected);
}

/** @param complaint - the message of client/ */
export function errorFor(complaint: string): string {
  const found = ERRORS.find(([pattern]) => pattern.test(complaint));
  if (found === undefined) throw new Error(`no error of the contracts for: ${complaint}`);
  return found[1];
}
