/** A trie log is malformed, or contradicts itself. The message names the block and the byte, account or slot. */
export class TrieLogError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TrieLogError";
  }
}
