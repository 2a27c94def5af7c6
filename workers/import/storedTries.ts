/** The state tries in the store. What is put goes with the next block. */

import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {TrieStore} from "../../storage/trie/trieStore.ts";
import {Stopped} from "./sourceStep.ts";

/**
 * @param writer - returns the writer of the store, which a rollback replaces
 * @param signal - ends the writing of a large state, with Stopped
 */
export function createStoredTries(writer: () => BlockWriter, signal: AbortSignal): TrieStore {
  return {
    read: page => writer().pages.read(page),
    putPage: (encode, before) => writer().pages.putPage(encode, before),
    findCode: hash => writer().findCode(hash),
    putCode: (hash, code) => writer().putCode(hash, code),
    begin: () => writer().pages.begin(),
    // Pages that no block reaches yet may be written ahead.
    settle: async () => {
      if (signal.aborted) throw new Stopped();
      if (writer().isFull) await writer().flush();
    },
  };
}
