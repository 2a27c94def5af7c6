/** What reads blocks from a layer-2 node: whole blocks, in order, each with the hash of the block before it. */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import type {Node} from "../rpc/node.ts";

export interface NodeBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes. */
  readonly parentHash: Uint8Array;
  /** What gives the changes, with the node's name. */
  readonly origin: string;
  /** About how much memory the block takes until it is applied. Read-ahead is bounded by the sum. */
  readonly bytes: number;
  /** Makes the difference. Executes the block if that is needed. Called at most once, in the order of the blocks. */
  difference(): Promise<BlockDifference>;
}

export interface BlockReader {
  readonly name: "execute" | "trace" | "trielogs";
  /** Blocks that one `read` may ask for. */
  readonly maxBlocks: number;
  /**
   * Reads blocks `from` to `to` from one node and checks what can be checked without the blocks before them.
   *
   * @returns the blocks from `from` on, in order, each linked to the one before by its hash. Fewer than asked for, or
   *   none, if the node does not have the rest yet
   * @throws NodeFailure, NodeRefusal
   */
  read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]>;
  /**
   * Reads a block whose difference did not give its state root, by all that the node can say of it.
   *
   * @returns undefined also if that is no more. @throws as `read`
   */
  readonly reread?: (node: Node, number: number) => Promise<NodeBlock | undefined>;
}
