/**
 * Folds the leaves of a tree part to its sub-root, in one pass with a stack (docs/proofs.md, section 9.4).
 *
 *   leaf k climbs to the height at which its path meets that of leaf k + 1, and waits there; the node that comes from the right
 *   takes it off the stack. The last leaf climbs to the sub-root.
 */
import {isEqual} from "../bytes/byteString.ts";
import {type HashSuite, zeroSubTrees} from "../hash/hashSuites.ts";
import {check} from "../proof/strictJson.ts";
import {DEPTH, meetingHeight, type PartLeaf, type TreePart} from "./treePart.ts";

/** Told of every node that is not an empty sub-tree: its height, and its position among the nodes of that height. */
export type SeeNode = (height: number, position: number, node: Uint8Array) => void;

/**
 * @param at - the part's place in the proof
 * @param leafHashes - of the part's leaves, which must ascend by leaf index
 * @returns the sub-root
 * @throws ProofError by checks 14, 15 and 16 of docs/proofs.md, section 10
 */
export function foldPart(
  suite: HashSuite,
  at: string,
  part: TreePart,
  leafHashes: readonly Uint8Array[],
  seeNode?: SeeNode,
): Uint8Array {
  const zero = zeroSubTrees(suite);
  const waiting: {height: number; node: Uint8Array}[] = [];
  let current = new Uint8Array() as Uint8Array;
  part.leaves.forEach((leaf, k) => {
    const here = `${at}.leaves[${k}]`;
    const following = part.leaves[k + 1];
    const end = following === undefined ? DEPTH : meetingHeight(leaf.leafIndex, following.leafIndex);
    const siblings = new Siblings(here, leaf, part.nextFreeNode, zero);
    current = leafHashes[k] as Uint8Array;
    let position = leaf.leafIndex;
    for (let height = 0; height < end; height++) {
      seeNode?.(height, position, current);
      const isRight = position % 2 === 1;
      const left = waiting.at(-1)?.height === height ? waiting.pop() : undefined;
      const sibling = siblings.next(height, position, left !== undefined);
      if (sibling !== undefined) seeNode?.(height, isRight ? position - 1 : position + 1, sibling);
      const other = left?.node ?? sibling ?? (zero[height] as Uint8Array);
      current = isRight ? suite.hashPair(other, current) : suite.hashPair(current, other);
      position = Math.floor(position / 2);
    }
    siblings.end();
    if (end === DEPTH) return;
    seeNode?.(end, position, current);
    waiting.push({height: end, node: current});
  });
  return current;
}

/** The siblings of one leaf, read in ascending height. */
class Siblings {
  private readonly at: string;
  private readonly siblings: readonly Uint8Array[];
  private readonly nextFreeNode: number;
  private readonly zero: readonly Uint8Array[];
  /** The bits not yet read. */
  private bits: number;
  private read = 0;

  constructor(at: string, leaf: PartLeaf, nextFreeNode: number, zero: readonly Uint8Array[]) {
    this.at = at;
    this.siblings = leaf.siblings;
    this.nextFreeNode = nextFreeNode;
    this.zero = zero;
    this.bits = leaf.bitmap;
  }

  /**
   * @param position - of the node whose sibling it is, among the nodes of its height
   * @param isComputed - whether the sibling waits on the stack, so that none may be sent
   * @returns undefined if none is sent: computed or empty
   */
  next(height: number, position: number, isComputed: boolean): Uint8Array | undefined {
    const bit = this.bits % 2;
    this.bits = Math.floor(this.bits / 2);
    if (bit === 0) return undefined;
    check(!isComputed, this.at, () => `a sibling of height ${height} that other leaves give`);
    const sibling = this.siblings[this.read++] as Uint8Array;
    check(
      !isEqual(sibling, this.zero[height] as Uint8Array),
      this.at,
      () => `an empty sibling of height ${height}`,
    );
    check(
      position % 2 === 1 || (position + 1) * 2 ** height < this.nextFreeNode,
      this.at,
      () => `the sibling of height ${height} lies at or beyond nextFreeNode`,
    );
    return sibling;
  }

  /** All must be read. */
  end(): void {
    check(this.bits === 0, this.at, "the bitmap has bits above the leaf's way");
  }
}
