/**
 * A tree part (docs/proofs.md, section 9.2): leaves of one tree with the siblings that fold them to its root, and which of them
 * prove which key.
 *
 *   bytes  <->  TreePart          readPart checks its form (partBytes.ts), verifyPart the rest
 */
import {readWord} from "../hash/hashSuites.ts";

/** The deepest tree: leaf indexes have 40 bits. */
export const DEPTH = 40;
export const LEAF_POSITIONS = 2 ** DEPTH;
/** Keys that one part proves at most, so that the numbers of their leaves have 15 bits. */
export const MAX_KEYS = 16_384;

/** By which leaves a key is proved: numbers of leaves in the part. */
export type KeyPlace = {readonly leaf: number} | {readonly left: number; readonly right: number};

/** An account's value, but for a storageRoot that its storage part gives. */
export interface AccountContent {
  readonly role: "account";
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeSize: bigint;
  /** 32 bytes, like the two below. */
  readonly codeHash: Uint8Array;
  readonly keccakCodeHash: Uint8Array;
  /** undefined: not sent, because `storage` gives it. */
  readonly storageRoot: Uint8Array | undefined;
  readonly storage: TreePart | undefined;
}

export interface SlotContent {
  readonly role: "slot";
  readonly value: bigint;
}

/** What a leaf shows of its opening, by its role. */
export type LeafContent =
  | AccountContent
  | SlotContent
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
  /** One for each key asked for, in that order. */
  readonly keys: readonly KeyPlace[];
  /** In ascending leaf index. */
  readonly leaves: readonly PartLeaf[];
}

/** @param value - of an account, 192 bytes */
export function readAccountContent(value: Uint8Array): AccountContent {
  const wordAt = (i: number) => value.subarray(32 * i, 32 * i + 32);
  return {
    role: "account",
    nonce: readWord(wordAt(0)),
    balance: readWord(wordAt(1)),
    storageRoot: wordAt(2),
    codeHash: wordAt(3),
    keccakCodeHash: wordAt(4),
    codeSize: readWord(wordAt(5)),
    storage: undefined,
  };
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
