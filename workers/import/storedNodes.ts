/** The nodes of the state trie in the store. They are written with the blocks. */

import type {TrieNodes} from "../../evm/trie/trieNodes.ts";
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {Stopped} from "./sourceStep.ts";

/**
 * @param writer - returns the writer of the store, which a rollback replaces
 * @param signal - ends the writing of a large state, with Stopped
 */
export function createStoredNodes(writer: () => BlockWriter, signal: AbortSignal): TrieNodes {
  return {
    get: key => writer().readExecutionNode(key),
    set: (key, value) => writer().putExecutionNode(key, value),
    // The key of a node is its hash, so nodes may be written before their block.
    settle: async () => {
      if (signal.aborted) throw new Stopped();
      if (writer().isFull) await writer().flush();
    },
  };
}
