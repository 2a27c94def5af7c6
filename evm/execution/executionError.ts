/** Errors of executing a chain. Callers match `code`. The message names the field, byte or block, and the reason. */
type ExecutionErrorCode =
  | "GENESIS_INVALID" // geth would not accept the genesis file, or it needs rules that are not supported
  | "RLP_INVALID" // the block file is cut short or is not RLP
  | "BLOCK_INVALID" // a block does not follow its parent, or its execution does not give what its header says
  | "STATE_MISSING"; // the trie nodes of the parent block are not in this store

/** @param block - the newest block of the store */
export function describeMissingTrie(block: number): string {
  return (
    `the store does not have the state trie of its newest block, ${block}, so blocks cannot be executed after it: continue with ` +
    "--source trace, --source trielogs or --diffs, or import the chain with --genesis into a new store"
  );
}

export class ExecutionError extends Error {
  constructor(
    readonly code: ExecutionErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "ExecutionError";
  }
}

/** A block or one of its transactions contradicts its header or the rules of its fork. */
export class BlockMismatch extends Error {
  override readonly name = "BlockMismatch";
}
