/**
 * A path in Ethereum's state trie, or in the storage trie of an account, as eth_getProof (EIP-1186) returns it.
 *
 *   bytes   | the root | the next node that is not inlined | ...              RLP, back to back
 *   ends         ends[0]                                    ends[1]
 *
 * Nodes under 32 bytes are inlined in their parent.
 */
import type {TrieKind, TrieReader} from "./trie.ts";

/** Of a branch with 16 hashes. */
const MAX_NODE_BYTES = 532;
/** A branch for each nibble of a hash, and a leaf. An extension takes the place of a branch. */
const MAX_NODES = 64 + 1;
export const MAX_PATH_BYTES: number = MAX_NODES * MAX_NODE_BYTES;

export class TriePath {
  count = 0;
  /** Where each node ends in `bytes`. */
  readonly ends = new Uint32Array(MAX_NODES);

  /** @param bytes - MAX_PATH_BYTES for the nodes */
  constructor(
    private readonly tries: TrieReader,
    readonly bytes: Uint8Array,
  ) {}

  /**
   * Hot: once per account and slot of a proof.
   *
   * @param page - of the trie's root; 0: it is empty. @param path - 32 bytes. @param joins, root - as of TrieReader.walk
   * @returns as TrieReader.find; undefined: the nodes prove its absence. @throws StoreError as TrieReader.find
   */
  open(
    page: number,
    path: Uint8Array,
    kind: TrieKind,
    joins = false,
    root?: Uint8Array,
  ): Uint8Array | undefined {
    const {tries, bytes, ends} = this;
    const value = tries.walk(page, path, kind, joins, root);
    this.count = tries.copyNodes(bytes, ends);
    return value;
  }
}
