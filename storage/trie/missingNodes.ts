/**
 * Finds nodes of which a trie that is stored in part has only the hash, in proofs of other versions of it.
 *
 * A leaf or extension has another path, and so another hash, where a branch above it was split or collapsed. It is
 * encoded again at each depth: the hash tells which form is right.
 */
import {NodeMissing} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {isSame} from "../hex.ts";
import {RlpError, RlpReader} from "../rlp/rlpReader.ts";
import {encodeList} from "../rlp/rlpWriter.ts";
import type {TrieKind, TrieReader, TrieRoot} from "./trie.ts";
import type {TriePageWriter} from "./trieStore.ts";

const PATH_NIBBLES = 64;
const BRANCH_ITEMS = 17;
const IS_LEAF = 2;

/**
 * Stores those nodes of a proof on the path that the trie lacks.
 *
 * @param reader - of `store`. @param path - 32 bytes. @param proof - RLP, from the root of any version down to the path
 * @returns undefined: the path is in the trie or absent from it; else the first node on it that is still not known
 */
export function putMissing(
  reader: TrieReader,
  store: TriePageWriter,
  {page, root}: TrieRoot,
  path: Uint8Array,
  kind: TrieKind,
  proof: readonly Uint8Array[],
): NodeMissing | undefined {
  for (;;)
    try {
      reader.find(page, path, kind, root);
      return undefined;
    } catch (error) {
      if (!(error instanceof NodeMissing)) throw error;
      const {hash} = error;
      const node = proof.find(one => isSame(keccak256(one), hash)) ?? findMoved(proof, path, hash);
      if (node === undefined) return error;
      store.putNode(hash, node);
    }
}

/** @returns a leaf or extension of the proof, in the form that has this hash */
function findMoved(proof: readonly Uint8Array[], path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
  const above = nibblesOf(path, 0);
  let depth = 0;
  for (const node of proof) {
    const items = readItems(node);
    if (items === undefined) return undefined;
    if (items.length === BRANCH_ITEMS) {
      depth++;
      continue;
    }
    const [encoded = node, child = node] = items;
    const flags = (encoded[0] ?? 0) >> 4;
    const nibbles = [...above.slice(0, depth), ...nibblesOf(encoded, flags & 1 ? 1 : 2)];
    // A node that lies may send a longer path.
    if (nibbles.length > PATH_NIBBLES) return undefined;
    for (let from = 0; from < nibbles.length; from++) {
      const again = encodeList([encodePath(nibbles.slice(from), flags & IS_LEAF), child]);
      if (isSame(keccak256(again), hash)) return again;
    }
    depth = nibbles.length;
  }
  return undefined;
}

/** @returns undefined if it is no list: nothing in it has the right hash */
function readItems(node: Uint8Array): Uint8Array[] | undefined {
  try {
    return new RlpReader(new Uint8Array(node)).readList().readItems();
  } catch (error) {
    if (error instanceof RlpError) return undefined;
    throw error;
  }
}

function nibblesOf(bytes: Uint8Array, from: number): number[] {
  return [...bytes].flatMap(byte => [byte >> 4, byte & 15]).slice(from);
}

function encodePath(nibbles: readonly number[], kind: number): Uint8Array {
  const isOdd = nibbles.length % 2;
  const all = [kind + isOdd, ...(isOdd ? [] : [0]), ...nibbles];
  return Uint8Array.from(
    {length: all.length / 2},
    (_, i) => ((all[2 * i] as number) << 4) | (all[2 * i + 1] as number),
  );
}
