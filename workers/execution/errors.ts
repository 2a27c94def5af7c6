/**
 * The failures of executing a chain. `code` is the contract; the message names the field, byte or block and the reason.
 */

export type ExecutionErrorCode =
  | "GENESIS_INVALID" // the genesis file is not one that geth would take, or needs a rule set that is not here
  | "RLP_INVALID" // the block file is cut short or is not RLP
  | "BLOCK_INVALID" // a block does not follow its parent, or its execution gives something else than its header says
  | "STATE_MISSING"; // the trie nodes of the parent block are not in this store

export class ExecutionError extends Error {
  readonly code: ExecutionErrorCode;

  constructor(code: ExecutionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExecutionError";
    this.code = code;
  }
}
