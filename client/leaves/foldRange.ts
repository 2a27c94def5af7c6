/**
 * Folds the leaves of a range to the sub-root, height by height over all of them (docs/proofs.md, 15.3).
 *
 *   nodes    | room | leaf from | leaf from + 1 | .. | leaf from + count - 1 | room |          32 bytes each
 *              left node                                                       right node, or an empty one
 */
import type {ByteReader} from "../compact/byteReader.ts";
import {type HashSuite, zeroSubTrees} from "../hash/hashSuites.ts";
import {DEPTH} from "../proof/leafProof.ts";
import {check} from "../proof/strictJson.ts";

const NODE_BYTES = 32;

/** Reused for each range: V8 frees memory outside of its heap late, with old objects. */
let nodesMemory = new Uint8Array(0);

/** @returns memory for the hashes of `count` leaves, from `leafAt(0)` on. It is valid until the next call */
export function takeNodes(count: number): Uint8Array {
  const bytes = (count + 2) * NODE_BYTES;
  if (bytes > nodesMemory.length) nodesMemory = new Uint8Array(bytes);
  return nodesMemory.subarray(0, bytes);
}

/** Where the hash of the range's leaf `i` stands. */
export function leafAt(i: number): number {
  return (1 + i) * NODE_BYTES;
}

/** @param nodes - with the hashes of the leaves. They are overwritten. @returns the sub-root. @throws ProofError */
export function foldRange(
  suite: HashSuite,
  reader: ByteReader,
  nextFreeNode: number,
  from: number,
  count: number,
  nodes: Uint8Array,
): Uint8Array {
  const zero = zeroSubTrees(suite);
  // Those on the left come first, from the top down.
  const left: Uint8Array[] = [];
  for (let height = DEPTH - 1; height >= 0; height--)
    if (Math.floor(from / 2 ** height) % 2 === 1) left[height] = readNode(suite, reader);
  let [first, length] = [from, count];
  for (let height = 0; height < DEPTH; height++) {
    let start = 1;
    if (first % 2 === 1) {
      nodes.set(left[height] as Uint8Array, 0);
      start = 0;
      length++;
    }
    if (length % 2 === 1) {
      const index = first - 1 + start + length;
      const isUsed = index * 2 ** height < nextFreeNode;
      nodes.set(
        isUsed ? readNode(suite, reader) : (zero[height] as Uint8Array),
        (start + length) * NODE_BYTES,
      );
      length++;
    }
    length /= 2;
    for (let i = 0; i < length; i++) {
      const at = (start + 2 * i) * NODE_BYTES;
      nodes.set(suite.hash(nodes.subarray(at, at + 2 * NODE_BYTES)), (1 + i) * NODE_BYTES);
    }
    first = Math.floor(first / 2);
  }
  return nodes.slice(NODE_BYTES, 2 * NODE_BYTES);
}

export function readNode(suite: HashSuite, reader: ByteReader): Uint8Array {
  const node = reader.take(NODE_BYTES);
  check(suite.isDigest(node), () => reader.place(), "a node is not a digest of the suite");
  return node;
}
