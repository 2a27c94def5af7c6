/** A trie log is malformed, or contradicts itself. The message names the block and the byte, account or slot. */
export class TrieLogError extends Error {
  override readonly name = "TrieLogError";
}
