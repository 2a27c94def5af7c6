/** Removes all records of a range of keys, some at a time. */
import {damaged, writeFailed} from "../leveldb/levelErrors.ts";
import type {WriteTarget} from "./writeTarget.ts";

/** Keys in one batch: 1 MB of LevelDB's log. */
const KEYS_AT_ONCE = 50_000;

/**
 * @param first, last - keys, both included
 * @param what - names the records in messages
 * @throws StoreError STORE_DAMAGED, WRITE_FAILED
 */
export async function removeRecords(
  db: WriteTarget["db"],
  first: Buffer,
  last: Buffer,
  what: string,
): Promise<void> {
  let range: {gte: Buffer} | {gt: Buffer} = {gte: first};
  for (;;) {
    let keys: Buffer[];
    try {
      keys = await db.keys({...range, lte: last, limit: KEYS_AT_ONCE}).all();
    } catch (error) {
      throw damaged(what, error);
    }
    const end = keys.at(-1);
    if (end === undefined) return;
    try {
      // Synced like every write. LevelDB does not sync a full log when it starts the next one, and its end must not be torn
      // then.
      await db.batch(
        keys.map(key => ({type: "del", key})),
        {sync: true},
      );
    } catch (error) {
      throw writeFailed(error);
    }
    range = {gt: end};
  }
}
