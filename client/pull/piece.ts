/** Divides the entries of a long source into pieces, one for each proof. */
import type {ProofEntry, ProofRequest} from "../proof/request.ts";
import type {ProofsPlace} from "./places.ts";

/** The entries of one proof. An entry that is too long is divided, with some of its storage keys in each piece. */
export interface Piece {
  readonly entries: readonly ProofRequest[];
  /** Where a pull continues after each entry. */
  readonly places: readonly ProofsPlace[];
}

export type ProofRequests = Iterable<ProofEntry> | AsyncIterable<ProofEntry>;

/**
 * Takes no entry before its piece is needed, and skips what comes before `start`.
 *
 * @param maxKeys - addresses and storage keys of a piece together, at least 2
 * @throws TypeError if the source ends before `start`; what the source throws
 */
export async function* divideRequests(
  source: ProofRequests,
  start: ProofsPlace,
  maxKeys: number,
): AsyncGenerator<Piece, void, void> {
  let entries: ProofRequest[] = [];
  let places: ProofsPlace[] = [];
  let room = maxKeys;
  let entry = 0;
  for await (const {address, storageKeys = []} of source) {
    const isFirst = entry === start.entry;
    let key = isFirst ? start.key : 0;
    if (isFirst && key > storageKeys.length) throw otherSource();
    // An entry that the cursor is in the middle of has keys left, so its end is the next entry's beginning.
    if (entry >= start.entry)
      do {
        // Only an entry that is too long for a whole piece is divided.
        const isFull = 1 + storageKeys.length - key > room;
        if (isFull && entries.length > 0) {
          yield {entries, places};
          [entries, places, room] = [[], [], maxKeys];
        }
        const keys = storageKeys.slice(key, key + room - 1);
        key += keys.length;
        room -= 1 + keys.length;
        const isDone = key === storageKeys.length;
        entries.push({address, storageKeys: keys});
        places.push({block: start.block, entry: isDone ? entry + 1 : entry, key: isDone ? 0 : key});
      } while (key < storageKeys.length);
    entry++;
  }
  if (entry < start.entry || (entry === start.entry && start.key > 0)) throw otherSource();
  if (entries.length > 0) yield {entries, places};
}

function otherSource(): TypeError {
  return new TypeError("the requests end before the cursor: they are not those of the cursor's pull");
}
