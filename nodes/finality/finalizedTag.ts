/** What a layer-2 node itself calls finalized. */

import {findNamedBlock, type NamedBlock, readNamedBlock} from "../rpc/namedBlock.ts";
import {type Node, NodeFailure, NodeRefusal} from "../rpc/node.ts";
import type {Nodes} from "../rpc/nodes.ts";

const HINT = "geth names one once its consensus client has";

interface TaggedBlock {
  /** Number of the node's finalized block. */
  readonly tag: number;
  /** The finalized block; the node's block at `highest` if the finalized one is above it. */
  readonly block: NamedBlock;
}

/**
 * Asks one node for its finalized block. If that is above `latest`, asks the same node for its block at `latest` too, which can
 * be compared with the one held here. Waits for a node that names one.
 *
 * @param highest - the newest block held here that may be finalized
 * @throws NodeRefusal if the node does not know the tag; the signal's reason
 */
export function readFinalizedTag(
  nodes: Pick<Nodes, "use">,
  highest: number,
  signal: AbortSignal,
): Promise<TaggedBlock> {
  return nodes.use(async node => {
    const finalized = await readFinalized(node, HINT, error => error.isOfCall);
    if (finalized.number <= highest) return {tag: finalized.number, block: finalized};
    return {tag: finalized.number, block: await readNamedBlock(node, highest)};
  }, signal);
}

/**
 * geth refuses the tag until its consensus client has named a block, and after a restart that took the head below it.
 *
 * @param hint - what helps
 * @param isFinal - whether neither a wait nor another node would end the refusal
 * @throws NodeFailure if the node names no block: another one may. NodeRefusal
 */
export async function readFinalized(
  node: Node,
  hint: string,
  isFinal = (_refusal: NodeRefusal): boolean => false,
): Promise<NamedBlock> {
  try {
    const block = await findNamedBlock(node, "finalized");
    if (block !== undefined) return block;
  } catch (error) {
    if (!(error instanceof NodeRefusal) || isFinal(error)) throw error;
    throw new NodeFailure(`it names no finalized block: ${error.message}; ${hint}`, {cause: error});
  }
  throw new NodeFailure(`it names no finalized block; ${hint}`);
}
