/** Reads one key of a Merkle-Patricia trie. */
import {KECCAK256_RLP} from "@ethereumjs/util";
import {sameBytes} from "./byteKey.ts";
import {decodeList} from "./nodeRlp.ts";
import {BRANCHES, decodePath, type TrieNode} from "./trieShape.ts";
import type {NodesByHash} from "./trieUpdate.ts";

/**
 * @param path - one nibble in a byte
 * @returns undefined if the trie does not have the key
 * @throws what `read` throws for a node that is missing
 */
export function readTrie(
  nodes: Pick<NodesByHash, "read">,
  root: Uint8Array,
  path: Uint8Array,
): Uint8Array | undefined {
  if (sameBytes(root, KECCAK256_RLP)) return undefined;
  let node: TrieNode = decodeList(nodes.read(root));
  let depth = 0;
  for (;;) {
    let child: Uint8Array | TrieNode;
    if (node.length > BRANCHES) child = node[path[depth++] as number] as Uint8Array | TrieNode;
    else {
      const own = decodePath(node[0] as Uint8Array);
      if (!sameBytes(own.path, path.subarray(depth, depth + own.path.length))) return undefined;
      if (own.isLeaf) return node[1] as Uint8Array;
      depth += own.path.length;
      child = node[1] as Uint8Array | TrieNode;
    }
    if (child.length === 0) return undefined;
    node = child instanceof Uint8Array ? decodeList(nodes.read(child)) : child;
  }
}
