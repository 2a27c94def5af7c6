/** Reads blocks from a layer-2 node, in order, each with its parent's hash. */
import type {NamedBlock} from "../rpc/namedBlock.ts";
import type {Node} from "../rpc/node.ts";
import type {SourceBlock} from "./sourceStep.ts";

/** `origin` has the node's name. */
export interface NodeBlock extends NamedBlock, Pick<SourceBlock, "first" | "origin" | "difference"> {
  /** Approximate memory of the block until it is applied, which bounds read-ahead. */
  readonly bytes: number;
}

export interface BlockReader {
  readonly name: "execute" | "trace" | "trielogs" | "slice";
  /** The block that an empty store begins with, given the node's newest one. Default: 0. */
  begin?(head: number): number;
  readonly maxBlocks: number;
  /**
   * Checks what can be checked without the blocks before them. @throws NodeFailure, NodeRefusal
   *
   * @returns linked blocks from `from` on; fewer, or none, if the node does not have the rest yet
   */
  read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]>;
  /** Reads a block in more detail, whose changes did not give its state root. @returns undefined if there is none */
  readonly reread?: (node: Node, number: number) => Promise<NodeBlock | undefined>;
}
