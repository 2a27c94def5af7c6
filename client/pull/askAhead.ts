/** Requests the pieces of a pull in order, some of them ahead of the reader. */
import {LinkedStop, orAborted} from "../rpc/abortable.ts";
import {askAgain} from "../rpc/pauses.ts";

/** How long a server may be away by default: a restart takes seconds. */
export const RETRY_MS = 30_000;

export interface AskingAhead {
  /** Pieces that are requested or buffered at a time. */
  readonly ahead: number;
  /** How long a request is retried while the server is busy or away. */
  readonly retryMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Yields each piece with its answer. At the end, it aborts the calls and closes the source.
 *
 * @throws what the request of a piece threw; after all pieces before, what the source threw; the signal's reason
 */
export async function* askAhead<Piece, Answer>(
  pieces: AsyncGenerator<Piece, void, void>,
  ask: (piece: Piece, signal: AbortSignal) => Promise<Answer>,
  {ahead, retryMs, signal: outer}: AskingAhead,
): AsyncGenerator<{readonly piece: Piece; readonly answer: Answer}, void, void> {
  const stop = new LinkedStop(outer);
  const {signal} = stop;
  /** In order. The first one stays until the reader asks for the next, so it counts towards `ahead`. */
  const asked: {readonly piece: Piece; readonly answer: Promise<Answer>}[] = [];
  let taking: Promise<void> | undefined;
  let [hasMore, isOpen] = [true, true];
  let failure: {readonly error: unknown} | undefined;
  const take = async (): Promise<void> => {
    try {
      const {value: piece} = await pieces.next();
      if (piece === undefined) hasMore = false;
      else if (isOpen) {
        const answer = askAgain(retryMs, signal, () => ask(piece, signal));
        // It may fail before anything awaits it. The error is thrown when its turn comes.
        answer.catch(() => {});
        asked.push({piece, answer});
      }
    } catch (error) {
      hasMore = false;
      failure = {error};
    } finally {
      taking = undefined;
    }
  };
  try {
    for (;;) {
      signal.throwIfAborted();
      if (hasMore && asked.length < ahead) taking ??= take();
      const [first] = asked;
      if (first === undefined && taking === undefined) break;
      // A slow source must not delay an answer.
      const answered = first?.answer.then(answer => ({piece: first.piece, answer}));
      const pending = [taking, answered].filter(one => one !== undefined);
      const winner = await orAborted(Promise.race(pending), signal);
      if (winner === undefined) continue;
      yield winner;
      asked.shift();
    }
    if (failure !== undefined) throw failure.error;
  } finally {
    isOpen = false;
    stop.stop(new Error("the reader has stopped"));
    const closed = pieces.return();
    // A source with a pending `next` may never close, and its error has no reader.
    if (taking === undefined) await closed;
    else closed.catch(() => {});
  }
}
