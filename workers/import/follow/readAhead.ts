/**
 * Blocks of a node in order, read ahead: several ranges are read while earlier blocks are applied.
 *
 *   taken | range that is given out | range read | range being read | range being read | to
 *
 * The size of a range follows the size of the blocks, which bounds memory. If responses are suddenly far longer, the
 * last ranges being read are aborted, and read again later.
 */
import type {NodeBlock} from "../../../nodes/blocks/blockReader.ts";

/** Ranges in memory or being read. With four, execution (0.5 ms per block) need not wait for the node. */
const RANGES = 4;
/** Wanted size of a range. A response in JSON is two to five times as long. */
const RANGE_BYTES = 2 << 20;
/** No range is begun while the blocks in memory, and the estimate of those being read, take this much. */
const AHEAD_BYTES = 32 << 20;
/**
 * Of the responses of all ranges being read, as text. Parsed they take some five times as much, and the thread's heap
 * has 2 GB or more. One range alone may have more, up to the length of one response.
 */
const ANSWER_BYTES = 64 << 20;
/** The first range, before the size of blocks is known. */
const FIRST_BLOCKS = 4;

/**
 * Reads blocks `from` to `to` with one node.
 * @param answers - counts the responses; `begin`: the range is read from its start again
 */
export type ReadRange = (
  from: number,
  to: number,
  signal: AbortSignal,
  answers: {begin(): void; add(bytes: number): void},
) => Promise<readonly NodeBlock[]>;

interface Wanted {
  readonly from: number;
  readonly to: number;
  /** Of one range. */
  readonly maxBlocks: number;
  /** Of the responses being read. */
  readonly answerBytes?: number;
}

/** Ends at `to`, or after a range that the node lacks in part. @throws what `read` throws; the signal's reason */
export async function* readAhead(
  read: ReadRange,
  wanted: Wanted,
  signal: AbortSignal,
): AsyncGenerator<NodeBlock> {
  const ranges = new RangesAhead(read, wanted);
  const end = (): void => ranges.end(signal.reason);
  signal.addEventListener("abort", end);
  try {
    for (;;) {
      signal.throwIfAborted();
      const range = ranges.take();
      if (range === undefined) return;
      const blocks = await range.blocks;
      const isWhole = blocks.length === range.count;
      ranges.learn(range, blocks.length);
      if (isWhole) ranges.fill();
      yield* blocks;
      if (!isWhole) return;
    }
  } finally {
    signal.removeEventListener("abort", end);
    ranges.end();
  }
}

class Range {
  readonly ending = new AbortController();
  readonly blocks: Promise<readonly NodeBlock[]>;
  answers = 0;
  /** Of its blocks. undefined: they are being read. */
  bytes: number | undefined;

  constructor(
    read: ReadRange,
    readonly first: number,
    readonly count: number,
    onAnswers: () => void,
  ) {
    const meter = {
      begin: () => {
        this.answers = 0;
      },
      add: (bytes: number) => {
        this.answers += bytes;
        onAnswers();
      },
    };
    // Asynchronously: the range must be in its place before the meter is used.
    this.blocks = Promise.resolve().then(() => read(first, first + count - 1, this.ending.signal, meter));
    // A failure is thrown when the consumer gets to the range.
    this.blocks.then(
      blocks => {
        this.bytes = blocks.reduce((sum, {bytes}) => sum + bytes, 0);
      },
      () => {},
    );
  }
}

/** The ranges after the consumed blocks, in order. */
class RangesAhead {
  private readonly ranges: Range[] = [];
  /** It may still be being read. */
  private taken: Range | undefined;
  private next: number;
  private count: number;
  private blockBytes = RANGE_BYTES / FIRST_BLOCKS;
  /** Of the responses for a block. */
  private blockAnswers = 0;
  private readonly answerBytes: number;

  constructor(
    private readonly read: ReadRange,
    private readonly wanted: Wanted,
  ) {
    this.answerBytes = wanted.answerBytes ?? ANSWER_BYTES;
    this.next = wanted.from;
    this.count = Math.min(FIRST_BLOCKS, wanted.maxBlocks);
  }

  /** @returns the next range; undefined after the last one */
  take(): Range | undefined {
    this.fill();
    this.taken = this.ranges.shift();
    return this.taken;
  }

  fill(): void {
    while (this.next <= this.wanted.to && this.mayBegin()) {
      const count = Math.min(this.count, this.wanted.to - this.next + 1);
      const range = new Range(this.read, this.next, count, () => this.abortLast());
      this.ranges.push(range);
      this.next += count;
    }
  }

  /** Adapts to the size of the blocks of a range. */
  learn({answers, bytes = 0}: Range, blocks: number): void {
    if (blocks === 0) return;
    this.blockAnswers = answers / blocks;
    this.blockBytes = Math.max(1, bytes / blocks);
    // At most double, so that a few small blocks do not make the next range too large.
    const wanted = Math.floor(RANGE_BYTES / this.blockBytes);
    this.count = Math.max(1, Math.min(this.wanted.maxBlocks, 2 * this.count, wanted));
  }

  end(reason?: unknown): void {
    for (const {ending} of [this.taken, ...this.ranges].filter(range => range !== undefined))
      ending.abort(reason);
  }

  private mayBegin(): boolean {
    const {ranges} = this;
    if (ranges.length === 0) return true;
    const bytesAhead = ranges.reduce((sum, {bytes, count}) => sum + (bytes ?? count * this.blockBytes), 0);
    if (ranges.length >= RANGES || bytesAhead >= AHEAD_BYTES) return false;
    const expected = this.underWay().reduce(
      (sum, {answers, count}) => sum + Math.max(answers, count * this.blockAnswers),
      this.count * this.blockAnswers,
    );
    return expected <= this.answerBytes;
  }

  /** Aborts the last ranges while the responses being read are too long. The first range continues. */
  private abortLast(): void {
    for (;;) {
      const underWay = this.underWay();
      const answers = underWay.reduce((sum, range) => sum + range.answers, 0);
      if (answers <= this.answerBytes || underWay.length <= 1) return;
      const last = this.ranges.pop() as Range;
      last.ending.abort(new Error("its answers are too long to be read ahead"));
      this.next = last.first;
    }
  }

  private underWay(): Range[] {
    return [this.taken, ...this.ranges].filter(
      range => range !== undefined && range.bytes === undefined,
    ) as Range[];
  }
}
