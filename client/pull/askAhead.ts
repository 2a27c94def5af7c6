/** Pieces of a pull in order, with some of them asked for ahead. */
import {orAborted} from "../rpc/abortable.ts";
import {askAgain} from "../rpc/pauses.ts";

/** By default, a server may be away for so long: a restart takes seconds. */
export const RETRY_MS = 30_000;

export interface Answered<Piece, Answer> {
  readonly piece: Piece;
  readonly answer: Answer;
}

export interface AskingAhead {
  /** Pieces that are asked for or held at a time. */
  readonly ahead: number;
  /** How long a piece is asked for again while the server is busy or away. */
  readonly retryMs: number;
  /** Ends all calls. */
  readonly signal: AbortSignal;
}

/**
 * Gives each answered piece, and closes the source at the end.
 *
 * @param signal - ends the waiting for the next piece. Default: that of the calls
 * @throws what asking for a piece threw; after all pieces before, what the source threw; the signal's reason
 */
export async function* askAhead<Piece, Answer>(
  pieces: AsyncGenerator<Piece, void, void>,
  ask: (piece: Piece) => Promise<Answer>,
  {ahead, retryMs, signal: stop}: AskingAhead,
  signal: AbortSignal | undefined = stop,
): AsyncGenerator<Answered<Piece, Answer>, void, void> {
  /** In order; the first one stays until the next one is wanted, so it counts. */
  const asked: {readonly piece: Piece; readonly answer: Promise<Answer>}[] = [];
  let taking: Promise<void> | undefined;
  let [hasMore, isOpen] = [true, true];
  let failure: {readonly error: unknown} | undefined;
  const take = async (): Promise<void> => {
    try {
      const {value: piece} = await pieces.next();
      if (piece === undefined) hasMore = false;
      else if (isOpen) {
        const answer = askAgain(retryMs, stop, () => ask(piece));
        // It may fail before its turn comes, when nobody waits for it yet.
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
      signal?.throwIfAborted();
      if (hasMore && asked.length < ahead) taking ??= take();
      const [first] = asked;
      if (first === undefined && taking === undefined) break;
      // Whichever comes first: a slow source holds up no answer.
      const answered = first?.answer.then(answer => ({piece: first.piece, answer}));
      const settled = [taking, answered].filter(one => one !== undefined);
      const winner = await orAborted(Promise.race(settled), signal);
      if (winner === undefined) continue;
      yield winner;
      asked.shift();
    }
    if (failure !== undefined) throw failure.error;
  } finally {
    isOpen = false;
    const closed = pieces.return();
    // A source that is being waited for may never answer.
    if (taking === undefined) await closed;
    else closed.catch(() => {});
  }
}
