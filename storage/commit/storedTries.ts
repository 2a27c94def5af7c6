/** The state tries of a store for code that changes them: what it puts belongs to the writer's next block. */
import type {TrieStore} from "../trie/trieStore.ts";
import type {BlockWriter} from "./blockWriter.ts";

/** @param signal - ends the writing of a large state: its reason is thrown */
export function createStoredTries(writer: BlockWriter, signal?: AbortSignal): TrieStore {
  return {
    read: page => writer.pages.read(page),
    putPage: (encode, before) => writer.pages.putPage(encode, before),
    findCode: hash => writer.findCode(hash),
    putCode: (hash, code) => writer.putCode(hash, code),
    begin: () => writer.pages.begin(),
    // Pages may be written before the record of their block.
    flushIfFull: async () => {
      signal?.throwIfAborted();
      if (writer.isFull) await writer.flush();
    },
  };
}
