/** Merkle-Patricia tries in linear memory. `npm run build` compiles this folder (AssemblyScript) to trie.wasm. */
import {ENTRIES, ORDER} from "./layout";

export {absorb, unexplainedPlaces} from "./absorb";
export {GATHERED as gatheredAt, gather} from "./captured";
export {check} from "./check";
export {BASE as baseAt, differ, STEPS as stepsAt} from "./difference";
export {find, foundBytes, walk} from "./find";
export {
  ENTRIES as entriesAt,
  ENTRY_BYTES as entryBytes,
  MAX_ENTRIES as maxEntries,
  MAX_NODE_BYTES as maxNodeBytes,
  MAX_PAGE_BYTES as maxPageBytes,
  MAX_VALUE_BYTES as maxValueBytes,
  ORDER as endsAt,
  PATH as pathAt,
  RESULT as resultAt,
  ROOT as rootAt,
  UNMADE as unmade,
} from "./layout";
export {
  beginLeaf,
  beginList,
  endHashedLeaf,
  endLeaf,
  endList,
  MAX_LIST as maxList,
  positionOf,
} from "./list";
export {REFERENCE as referenceAt, update} from "./update";

export const messageAt: usize = ENTRIES;
export const messageBytes: usize = ORDER - ENTRIES;
