/**
 * AssemblyScript, not TypeScript: `npm run build` compiles this folder to dist/storage/trie/trie.wasm, for
 * trieModule.ts.
 *
 * Merkle-Patricia tries in linear memory.
 */
import {GATHERED} from "./captured";
import {BASE, STEPS} from "./difference";
import {
  ENTRIES,
  ENTRY_BYTES,
  MAX_ENTRIES,
  MAX_PAGE_BYTES,
  MAX_VALUE_BYTES,
  ORDER,
  PATH,
  RESULT,
  UNMADE,
} from "./layout";
import {MAX_LIST} from "./list";
import {REFERENCE} from "./update";

export {gather} from "./captured";
export {check} from "./check";
export {differ} from "./difference";
export {find, foundBytes, walk} from "./find";
export {beginLeaf, beginList, endHashedLeaf, endLeaf, endList, positionOf} from "./list";
export {update} from "./update";

export const pathAt: usize = PATH;
export const referenceAt: usize = REFERENCE;
export const resultAt: usize = RESULT;
export const entriesAt: usize = ENTRIES;
export const entryBytes: usize = ENTRY_BYTES;
export const unmade: u32 = UNMADE;
export const maxEntries: u32 = MAX_ENTRIES;
export const messageAt: usize = ENTRIES;
export const messageBytes: usize = ORDER - ENTRIES;
export const baseAt: usize = BASE;
export const stepsAt: usize = STEPS;
export const gatheredAt: usize = GATHERED;
export const endsAt: usize = ORDER;
export const maxList: u32 = MAX_LIST;
export const maxPageBytes: u32 = MAX_PAGE_BYTES;
export const maxValueBytes: u32 = MAX_VALUE_BYTES;
