/**
 * Failures in executing a chain. Callers may rely on `code`. The message names the field, byte or block, and the reason.
 */

export type ExecutionErrorCode =
  | "GENESIS_INVALID" // geth would not accept the genesis file, or it needs rules that are not supported
  | "RLP_INVALID" // the block file is cut short or is not RLP
  | "BLOCK_INVALID" // a block does not follow its parent, or its execution does not give what its header says
  | "STATE_MISSING"; // the trie nodes of the parent block are not in this store

export class ExecutionError extends Error {
  readonly code: ExecutionErrorCode;

  constructor(code: ExecutionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExecutionError";
    this.code = code;
  }
}
