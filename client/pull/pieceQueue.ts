/** Pieces of a pull in order, with some of them asked for ahead. */
import {orAborted} from "../rpc/abortable.ts";
import {askAgain} from "../rpc/pauses.ts";

/** By default, a server may be away for so long: a restart takes seconds. */
export const RETRY_MS = 30_000;

export interface Answered<Piece, Answer> {
  readonly piece: Piece;
  readonly answer: Answer;
}

export class PieceQueue<Piece, Answer> {
  /** In order; the first one stays until the next one is wanted, so it counts. */
  private readonly asked: {readonly piece: Piece; readonly answer: Promise<Answer>}[] = [];
  private taking: Promise<void> | undefined;
  private hasMore = true;
  private failure: {readonly error: unknown} | undefined;
  private isOpen = true;

  /**
   * @param ahead - pieces that are asked for or held at a time
   * @param retryMs - how long a piece is asked for again while the server is busy or away
   * @param signal - ends all calls
   */
  constructor(
    private readonly pieces: AsyncGenerator<Piece, void, void>,
    private readonly ask: (piece: Piece) => Promise<Answer>,
    private readonly ahead: number,
    private readonly retryMs: number,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * @returns undefined at the end
   * @throws what asking for this piece threw; after all pieces before, what the source threw; the signal's reason
   */
  private async next(signal: AbortSignal | undefined): Promise<Answered<Piece, Answer> | undefined> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.hasMore && this.asked.length < this.ahead) this.taking ??= this.take();
      const [first] = this.asked;
      if (first === undefined && this.taking === undefined) break;
      // Whichever comes first: a slow source holds up no answer.
      const answered = first?.answer.then(answer => ({piece: first.piece, answer}));
      const settled = [this.taking, answered].filter(one => one !== undefined);
      const winner = await orAborted(Promise.race(settled), signal);
      if (winner !== undefined) return winner;
    }
    if (this.failure !== undefined) throw this.failure.error;
    return undefined;
  }

  /** Gives each answered piece in order, drops it when its successor is wanted, and closes the source at the end. @throws as `next` */
  async *read(signal: AbortSignal | undefined): AsyncGenerator<Answered<Piece, Answer>, void, void> {
    try {
      for (;;) {
        const next = await this.next(signal);
        if (next === undefined) return;
        yield next;
        this.drop();
      }
    } finally {
      await this.close();
    }
  }

  /** Forgets the piece that `next` gave, which makes room for another. */
  private drop(): void {
    this.asked.shift();
  }

  /** Closes the source. */
  private async close(): Promise<void> {
    this.isOpen = false;
    const closed = this.pieces.return();
    // A source that is being waited for may never answer.
    if (this.taking === undefined) await closed;
    else closed.catch(() => {});
  }

  private async take(): Promise<void> {
    try {
      const {value: piece} = await this.pieces.next();
      if (piece === undefined) this.hasMore = false;
      else if (this.isOpen) {
        const answer = askAgain(this.retryMs, this.signal, () => this.ask(piece));
        // It may fail before its turn comes, when nobody waits for it yet.
        answer.catch(() => {});
        this.asked.push({piece, answer});
      }
    } catch (error) {
      this.hasMore = false;
      this.failure = {error};
    } finally {
      this.taking = undefined;
    }
  }
}
