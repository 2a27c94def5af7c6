/** Where a replica begins to read its stream. */
import type {FeedStream} from "../../../nodes/feed/feedStream.ts";

/**
 * Finds a message that comes before the newest block held here, wherever in the stream that is. Blocks above a finalized one may have been removed
 * and published again; below it, numbers only rise. So the last message of a number up to `floor` is found by bisection.
 *
 * @param floor - the newest finalized block held here; -1: none
 * @returns its sequence number; undefined if the stream has no message of the chain
 * @throws FeedError; what NATS throws
 */
export async function findStart(stream: FeedStream, floor: number): Promise<number | undefined> {
  const range = await stream.readRange();
  const first = await stream.nextBlock(Math.max(1, range.first));
  if (first === undefined) return undefined;
  // A message at `low` or before is known to come early enough; all from `high` on come too late.
  let [low, high] = [first.sequence, range.last + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await stream.nextBlock(middle);
    if (found === undefined || found.sequence >= high || found.message.number > floor) high = middle;
    else low = found.sequence;
  }
  return low;
}
