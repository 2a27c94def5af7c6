/**
 * Limits the small pieces of request bodies that each client sends at once. With chunked encoding, one read of a socket
 * may contain thousands: uWebSockets.js passes on each in 1 us, all in one event, and only closing the connection stops
 * it. A slow client sends few pieces per event, which do not count.
 */

/** Pieces of a body in one turn of the event loop that do not count. */
const FREE_PIECES = 16;
const SMALL_BYTES = 4096;
/** Per client, at once. A batch of 1000 calls may come with each call in a chunk of its own. */
const MOST_PIECES = 2048;
/** Per client, in the long run: 1 % of the main thread. */
const PIECES_PER_MS = 10;
const MOST_CLIENTS = 4096;

interface Budget {
  pieces: number;
  sinceMs: number;
}

export class BodyPieceLimit {
  private readonly budgets = new Map<string, Budget>();

  /** Counts a piece. @param place - among the pieces of its body in this turn, from 1 */
  isExceeded(byteCount: number, place: number, readClient: () => string): boolean {
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
