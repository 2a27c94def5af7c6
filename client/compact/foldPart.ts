/**
 * Folds the leaves of a tree part to its sub-root, in one pass with a stack (docs/proofs.md, section 9.4).
 *
 *   leaf k climbs to the height at which its path meets that of leaf k + 1, and waits there; the node that comes from the right
 *   takes it off the stack. The last leaf climbs to the sub-root.
 */
import {isEqual} from "../bytes/byteString.ts";
import {type HashSuite, zeroSubTrees} from "../hash/hashSuites.ts";
import {DEPTH} from "../proof/leafProof.ts";
import {check} from "../proof/strictJson.ts";
import {meetingHeight, type TreePart} from "./treePart.ts";

/**
 * @param at - the part's place in the proof
 * @param leafHashes - of the part's leaves, which must ascend by leaf index
 * @returns the sub-root
 * @throws ProofError by checks 14, 15 and 16 of docs/proofs.md, section 10
 */
export function foldPart(
  suite: HashSuite,
  at: string,
  {nextFreeNode, leaves}: TreePart,
  leafHashes: readonly Uint8Array[],
): Uint8Array {
  const zero = zeroSubTrees(suite);
  const waiting: {height: number; node: Uint8Array}[] = [];
  let current = new Uint8Array() as Uint8Array;
  leaves.forEach(({leafIndex, bitmap, siblings}, k) => {
    const here = `${at}.leaves[${k}]`;
    const following = leaves[k + 1];
    const end = following === undefined ? DEPTH : meetingHeight(leafIndex, following.leafIndex);
    current = leafHashes[k] as Uint8Array;
    let position = leafIndex;
    let bits = bitmap;
    let read = 0;
    for (let height = 0; height < end; height++) {
      const isRight = position % 2 === 1;
      const left = waiting.at(-1)?.height === height ? waiting.pop() : undefined;
      let other = left?.node ?? (zero[height] as Uint8Array);
      if (bits % 2 === 1) {
        const sibling = siblings[read++] as Uint8Array;
        check(left === undefined, here, () => `a sibling of height ${height} that other leaves give`);
        check(!isEqual(sibling, other), here, () => `an empty sibling of height ${height}`);
        check(
          isRight || (position + 1) * 2 ** height < nextFreeNode,
          here,
          () => `the sibling of height ${height} lies at or beyond nextFreeNode`,
        );
        other = sibling;
      }
      current = isRight ? suite.hashPair(other, current) : suite.hashPair(current, other);
      position = Math.floor(position / 2);
      bits = Math.floor(bits / 2);
    }
    check(bits === 0, here, "the bitmap has bits above the leaf's way");
    if (end < DEPTH) waiting.push({height: end, node: current});
  });
  return current;
}
