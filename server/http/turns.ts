/**
 * Puts replies that are complete in the turn of the event loop in which their request came off to its end. uWebSockets.js reads all
 * requests that have come on a connection in one turn. If each were answered at once, a client that sends thousands without waiting
 * (pipelining) would hold up everyone else. A request that comes while the one before is unanswered ends its connection.
 */
export class Turns {
  /** Number of turns that have ended in which a request came. */
  private ended = 0;
  private isEndPlanned = false;
  private postponed: (() => void)[] = [];

  /** Call for each request. @returns the turn, for `run` */
  enter(): number {
    if (!this.isEndPlanned) {
      this.isEndPlanned = true;
      setImmediate(() => this.end());
    }
    return this.ended;
  }

  isOver(turn: number): boolean {
    return turn !== this.ended;
  }

  /** Calls `send`, at the end of the turn if this is still the turn in which the request came. */
  run(turn: number, send: () => void): void {
    if (this.isOver(turn)) send();
    else this.postponed.push(send);
  }

  private end(): void {
    this.isEndPlanned = false;
    this.ended++;
    const {postponed} = this;
    if (postponed.length === 0) return;
    this.postponed = [];
    for (const send of postponed) send();
  }
}
