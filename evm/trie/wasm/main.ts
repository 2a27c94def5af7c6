/**
 * AssemblyScript, not TypeScript: `npm run build` compiles this folder to dist/evm/trie/trie.wasm, for trieMemory.ts and listRoot.ts.
 *
 * Merkle-Patricia tries in linear memory.
 */
import {
  ENTRIES,
  ENTRY_BYTES,
  MAX_ENTRIES,
  MAX_NODE_BYTES,
  MAX_VALUE_BYTES,
  ORDER,
  PATH,
  RESULT,
  ROOT,
} from "./layout";
import {MAX_LIST} from "./list";

export {find, foundBytes} from "./find";
export {beginLeaf, beginList, endHashedLeaf, endLeaf, endList, positionOf} from "./list";
export {drop, firstPending, nextPending, persisted, seed} from "./nodes";
export {update} from "./update";

export const rootAt: usize = ROOT;
export const pathAt: usize = PATH;
export const resultAt: usize = RESULT;
export const entriesAt: usize = ENTRIES;
export const entryBytes: usize = ENTRY_BYTES;
export const maxEntries: u32 = MAX_ENTRIES;
export const messageAt: usize = ENTRIES;
export const messageBytes: usize = ORDER - ENTRIES;
export const maxList: u32 = MAX_LIST;
export const maxNodeBytes: u32 = MAX_NODE_BYTES;
export const maxValueBytes: u32 = MAX_VALUE_BYTES;
