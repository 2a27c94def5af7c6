/** Reads blocks of a file ahead of their consumer. */
import {setImmediate as turn} from "node:timers/promises";

/** Of waiting blocks. The next one may be larger. */
const MOST_BYTES = 256 << 10;
const MOST_BLOCKS = 32;

/** Yields each block as soon as it is read. @throws what `blocks` throws, after the blocks before it */
export async function* readOn<Block extends {readonly bytes: Uint8Array}>(
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
      // It is thrown when the consumer gets there.
      () => {
        isOver = true;
      },
    );
  };
  try {
    readNext();
    for (;;) {
      // The consumer may never yield to the event loop, which reads the file.
      if (isReading && ahead.length > 1) await turn();
      const next = await ahead.shift();
      if (next === undefined || next.done === true) return;
      bytes -= next.value.bytes.length;
      readNext();
      yield next.value;
    }
  } finally {
    // A pipe may be silent for long. It is closed when the next block comes, or with the import's signal.
    const closed = blocks.return();
    if (isReading) closed.catch(() => {});
    else await closed;
  }
}
