/** The state tries of a store for code that changes them: what it puts belongs to the writer's next block. */
import type {TrieStore} from "../trie/trieStore.ts";
import type {BlockWriter} from "./blockWriter.ts";

/** @param signal - ends the writing of a large state: its reason is thrown */
export function createStoredTries(writer: BlockWriter, signal?: AbortSignal): TrieStore {
  const {batch} = writer;
  return {
    read: page => batch.read(page),
    putPage: (encode, before) => batch.putPage(encode, before),
    findCode: hash => batch.findCode(hash),
    putCode: (hash, code) => batch.putCode(hash, code),
    begin: () => batch.begin(),
    // Pages may be written before the record of their block.
    flushIfFull: async () => {
      signal?.throwIfAborted();
      if (batch.isFull) await writer.flush();
    },
  };
}
