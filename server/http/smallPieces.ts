/**
 * Limits the small pieces of bodies that come together, by client. Behind chunked encoding one read of a socket may
 * have thousands: uWebSockets.js hands on each in 1 us, all in one event, and only a close of the connection ends it.
 * Whoever sends slowly has few pieces in an event, and they do not count.
 */

/** A body may have so many pieces of any size in a turn of the event loop. */
const FREE_PIECES = 16;
const SMALL_BYTES = 4096;
/** Of a client at once. A batch of 1000 calls may come with each call in a chunk of its own. */
const MOST_PIECES = 2048;
/** Of a client in the long run: 1 % of the main thread. */
const PIECES_PER_MS = 10;
const MOST_CLIENTS = 4096;

interface Budget {
  pieces: number;
  sinceMs: number;
}

export class SmallPieces {
  private readonly budgets = new Map<string, Budget>();

  /** @param place - of the piece among those of its body in this turn, from 1. @returns whether these are too many */
  isTooMany(byteCount: number, place: number, readClient: () => string): boolean {
    if (place <= FREE_PIECES || byteCount >= SMALL_BYTES) return false;
    const budget = this.budgetOf(readClient());
    const nowMs = performance.now();
    budget.pieces = Math.max(0, budget.pieces - PIECES_PER_MS * (nowMs - budget.sinceMs)) + 1;
    budget.sinceMs = nowMs;
    return budget.pieces > MOST_PIECES;
  }

  private budgetOf(client: string): Budget {
    let budget = this.budgets.get(client);
    if (budget === undefined) {
      if (this.budgets.size === MOST_CLIENTS) this.budgets.clear();
      budget = {pieces: 0, sinceMs: 0};
      this.budgets.set(client, budget);
    }
    return budget;
  }
}
