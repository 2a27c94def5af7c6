/** What a layer-2 node itself calls finalized. */

import {type NamedBlock, readNamedBlock} from "../rpc/namedBlock.ts";
import type {Nodes} from "../rpc/nodes.ts";

interface TaggedBlock {
  /** Number of the node's finalized block. */
  readonly tag: number;
  /** The finalized block; the node's block at `highest` if the finalized one is above it. */
  readonly block: NamedBlock;
}

/**
 * Asks one node for its finalized block. If that is above `latest`, asks the same node for its block at `latest` too, which can
 * be compared with the one held here. Waits for a node that answers.
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
    const finalized = await readNamedBlock(node, "finalized");
    if (finalized.number <= highest) return {tag: finalized.number, block: finalized};
    return {tag: finalized.number, block: await readNamedBlock(node, highest)};
  }, signal);
}
