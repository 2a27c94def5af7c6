/** The errors of the store. Programs may rely on `code`; messages may change. */
import {toHex} from "./hex.ts";

export type StoreErrorCode =
  | "STORE_MISSING" // no store in that directory, and the caller does not allow a new one
  | "STORE_IN_USE" // another process has the directory open
  | "FORMAT_MISMATCH" // another format version, suite or chain id
  | "RECORD_DAMAGED" // a checksum does not match, or a record does not decode
  | "RECORD_MISSING" // a record is missing that another record points to, or that of a block before an existing block
  | "STORE_DAMAGED" // LevelDB's files are not what was written, or LevelDB itself refuses them
  | "STORE_UNREADABLE" // the operating system refuses: permissions, open files, disk
  | "WRITE_FAILED" // a write was refused: disk full, no permission
  | "BLOCK_UNKNOWN" // the store does not have this block
  | "BLOCK_PRUNED" // the store knows this block's hashes, but its trees were pruned, or never recorded (a gap of slices)
  | "BLOCK_CONFLICT" // the store has a block of this number with another hash
  | "BLOCK_GAP" // block numbers are not consecutive
  | "PARENT_MISMATCH" // parentHash is not the hash of the block before
  | "STATE_ROOT_MISMATCH" // the block's changes give another root than the block expects
  | "BEFORE_MISMATCH" // the block says that an account or a slot had another value before it than the store has
  | "BLOCK_INVALID" // the difference cannot be applied: a value out of range, a duplicate
  | "FINALIZED" // refused: the block is finalized
  | "PRUNING" // refused: blocks are being pruned
  | "FINALITY_CONFLICT" // layer 1 contradicts its earlier events, or a stored state root
  | "TREE_FULL" // no leaf position left
  | "NODE_MISSING" // a trie is stored in part, and this node of it is not
  | "SLICE_INVALID" // proofs of a block do not lead from its state root to what they are for
  | "NO_TREES"; // the store has no sparse trees

/** `error.code` says what happened; the message names the record or block. */
export class StoreError extends Error {
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "StoreError";
  }
}

export class NodeMissing extends StoreError {
  /** @param hash - 32 bytes */
  constructor(readonly hash: Uint8Array) {
    super("NODE_MISSING", `node ${toHex(hash)} of the trie is not in the store`);
    this.name = "NodeMissing";
  }
}

export class PrunedError extends StoreError {
  /** @param isMissed - the block is in a gap of a store of slices */
  constructor(
    readonly block: number,
    isMissed: boolean,
  ) {
    super("BLOCK_PRUNED", describeLost(`block ${block}`, isMissed));
    this.name = "PrunedError";
  }
}

/** @param isMissed - as of PrunedError. @returns why the block cannot be proved */
export function describeLost(block: string, isMissed: boolean): string {
  return isMissed
    ? `${block} is in a gap of the slices: its state was not recorded`
    : `${block} is pruned: its state is not kept any more`;
}

/** Does the error mean "the bytes on disk are not what was written"? */
export function isDamage(error: unknown): error is StoreError {
  return (
    error instanceof StoreError &&
    (error.code === "RECORD_DAMAGED" || error.code === "RECORD_MISSING" || error.code === "STORE_DAMAGED")
  );
}
