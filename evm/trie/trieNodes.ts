/**
 * What holds the nodes of Merkle-Patricia tries.
 *
 *   key                               value
 *   <keccak of the node, 64 hex>      a trie node, RLP
 *   code:<keccak of the code, hex>    a contract's code
 *   root:<block hash, hex>            the state's trie root after that block (storage/block/trieRoot.ts)
 *
 * A key's value never changes. So nodes may reach the disk before their block, and stay there when it is rolled back.
 */
/** The caller's store, or a Map. `get` must return a set value at once. The value must be on disk no later than the block. */
export interface TrieNodes {
  get(key: string): Uint8Array | undefined;
  set(key: string, value: Uint8Array): void;
  /** Awaited from time to time while a large allocation is set. It may write what was set, or throw to end the work. */
  settle?(): Promise<void>;
}

/** keccak256 of the RLP of no bytes. */
export const EMPTY_ROOT: Uint8Array = new Uint8Array(
  Buffer.from("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421", "hex"),
);

export function codeKey(codeHash: Uint8Array): string {
  return `code:${Buffer.from(codeHash).toString("hex")}`;
}
