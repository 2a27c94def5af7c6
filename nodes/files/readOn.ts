/** Reads blocks of a file on while those before them are taken. */
import {setImmediate as turn} from "node:timers/promises";

/** Of blocks that wait to be taken. The next one may be larger. */
const MOST_BYTES = 256 << 10;
const MOST_BLOCKS = 32;

interface FileBlock {
  readonly bytes: Uint8Array;
}

/**
 * Yields the same blocks, each as soon as it is there.
 *
 * @param onRead - called with each block when it is read
 * @throws what `blocks` throws, after the blocks before it
 */
export async function* readOn<Block extends FileBlock>(
  blocks: AsyncGenerator<Block, void>,
  onRead: (block: Block) => void,
): AsyncGenerator<Block> {
  const ahead: Promise<IteratorResult<Block, void>>[] = [];
  let bytes = 0;
  let isReading = false;
  let isOver = false;
  const readNext = (): void => {
    if (isReading || isOver || ahead.length >= MOST_BLOCKS || bytes >= MOST_BYTES) return;
    isReading = true;
    const next = blocks.next();
    ahead.push(next);
    next.then(
      ({done, value}) => {
        isReading = false;
        isOver = done === true;
        if (value === undefined) return;
        bytes += value.bytes.length;
        onRead(value);
        readNext();
      },
      // It is thrown when its turn comes.
      () => {
        isOver = true;
      },
    );
  };
  try {
    readNext();
    for (;;) {
      // Whoever takes the blocks may never turn to the thread's other events, and reading a file is one.
      if (isReading && ahead.length > 1) await turn();
      const next = await ahead.shift();
      if (next === undefined || next.done === true) return;
      bytes -= next.value.bytes.length;
      readNext();
      yield next.value;
    }
  } finally {
    // A pipe may not give its next block for long. It is closed once it does, or the import's signal comes.
    const closed = blocks.return();
    if (isReading) closed.catch(() => {});
    else await closed;
  }
}
