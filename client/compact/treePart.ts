/**
 * A tree part (docs/proofs.md, 9.2): leaves with the siblings that fold them to the root, and which prove which key.
 *
 *   bytes  <->  TreePart          decodeProofBytes checks its form, verifyPart the rest
 */

/** Most keys of one part: the numbers of their leaves have 15 bits. */
export const MAX_KEYS = 16_384;

/** The numbers of the leaves that prove a key. */
export type KeyPlace = {readonly leaf: number} | {readonly left: number; readonly right: number};

export interface OwnContent {
  readonly role: "own";
  /** 192 bytes of an account, 32 of a slot. A storage part replaces the storageRoot in it. */
  readonly value: Uint8Array;
  readonly storage?: TreePart | undefined;
}

export type LeafContent =
  | OwnContent
  | {readonly role: "end"}
  | {readonly role: "neighbour"; readonly hKey: Uint8Array; readonly hVal: Uint8Array};

export interface PartLeaf {
  readonly leafIndex: number;
  readonly prev: number;
  readonly next: number;
  readonly content: LeafContent;
  /** Bit h: a sibling of height h is in `siblings`. Below 2^40. */
  readonly bitmap: number;
  /** In ascending height, 32 bytes each: one per bit. */
  readonly siblings: readonly Uint8Array[];
}

export interface TreePart {
  readonly nextFreeNode: number;
  /** One for each requested key, in request order. */
  readonly keys: readonly KeyPlace[];
  /** In ascending leaf index. */
  readonly leaves: readonly PartLeaf[];
}

/** @returns for each leaf the numbers of the present keys that name it, ascending */
export function keysOfLeaves(keys: readonly KeyPlace[], leaves: number): readonly (readonly number[])[] {
  const named = Array.from({length: leaves}, (): number[] => []);
  keys.forEach((place, key) => {
    if ("leaf" in place) named[place.leaf]?.push(key);
  });
  return named;
}

/** Number of the highest bit in which two different leaf indexes differ: the height at which the left path waits. */
export function meetingHeight(a: number, b: number): number {
  let [x, y] = [Math.floor(a / 2), Math.floor(b / 2)];
  let height = 0;
  while (x !== y) {
    [x, y] = [Math.floor(x / 2), Math.floor(y / 2)];
    height++;
  }
  return height;
}
