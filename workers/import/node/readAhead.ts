/**
 * Blocks of a node in order, read ahead: several ranges are under way while earlier blocks are applied.
 *
 *   taken | range that is given out | range read | range under way | range under way | to
 *
 * The size of a range follows the size of the blocks, so that what is held stays within its bound.
 */
import type {BlockReader, NodeBlock} from "../../../sync/node/blockReader.ts";

/** Ranges that are read or under way at a time. With four, execution (0.5 ms per block) need not wait for the node. */
const RANGES = 4;
/** Wanted size of a range. An answer in JSON is two to five times as long. */
const RANGE_BYTES = 2 << 20;
/**
 * No range is begun while the blocks that are held, and the estimate of those under way, take this much. So there may be one range
 * more than this.
 */
const AHEAD_BYTES = 32 << 20;
/** The first range, before the size of blocks is known. */
const FIRST_BLOCKS = 4;

interface Range {
  readonly count: number;
  readonly blocks: Promise<readonly NodeBlock[]>;
  /** Of its blocks once they are read. */
  bytes: number | undefined;
}

/** Reads blocks `from` to `to` with one node. */
export type ReadRange = (from: number, to: number, signal: AbortSignal) => Promise<readonly NodeBlock[]>;

/**
 * Ends at `to`, or after the last block of a range that the node does not have whole.
 *
 * @throws what `read` throws
 */
export async function* readAhead(
  read: ReadRange,
  {maxBlocks}: Pick<BlockReader, "maxBlocks">,
  from: number,
  to: number,
  signal: AbortSignal,
): AsyncGenerator<NodeBlock> {
  const ending = new AbortController();
  const end = (): void => ending.abort(signal.reason);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const ranges: Range[] = [];
  let next = from;
  let count = Math.min(FIRST_BLOCKS, maxBlocks);
  let blockBytes = RANGE_BYTES / FIRST_BLOCKS;
  const start = (): void => {
    const held = ranges.reduce((sum, range) => sum + (range.bytes ?? range.count * blockBytes), 0);
    if (ranges.length > 0 && (ranges.length >= RANGES || held >= AHEAD_BYTES)) return;
    const last = Math.min(to, next + count - 1);
    const blocks = read(next, last, ending.signal);
    const range: Range = {count: last - next + 1, blocks, bytes: undefined};
    // The failure is seen when the range's turn comes, if it comes.
    blocks.then(
      all => {
        range.bytes = all.reduce((sum, {bytes}) => sum + bytes, 0);
      },
      () => {},
    );
    ranges.push(range);
    next = last + 1;
    if (next <= to) start();
  };
  try {
    for (;;) {
      if (next <= to) start();
      const range = ranges.shift();
      if (range === undefined) return;
      const blocks = await range.blocks;
      if (blocks.length > 0) {
        blockBytes = Math.max(1, (range.bytes ?? 0) / blocks.length);
        // At most double, so that a few small blocks do not make the next range too large.
        count = Math.max(1, Math.min(maxBlocks, 2 * count, Math.floor(RANGE_BYTES / blockBytes)));
      }
      const isWhole = blocks.length === range.count;
      if (isWhole && next <= to) start();
      yield* blocks;
      if (!isWhole) return;
    }
  } finally {
    signal.removeEventListener("abort", end);
    ending.abort();
  }
}
