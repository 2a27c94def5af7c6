/** An answer kept in memory, in the place of a socket; its reader stops and goes on when it is told to. */
import type {PendingReply} from "../../server/dispatch/pendingRequest.ts";

export class CollectedReply implements PendingReply {
  heldBytes = 0;
  isBlocked = false;
  isFinished = false;
  onAborted: (() => void) | null = null;
  onDrained: (() => void) | null = null;
  readonly #pieces: Uint8Array[] = [];

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  push(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) {
      this.#pieces.push(piece);
      if (this.isBlocked) this.heldBytes += piece.length;
    }
  }

  finish(): void {
    this.isFinished = true;
  }

  /** The reader takes all there is, and will take more. */
  drain(): void {
    this.isBlocked = false;
    this.heldBytes = 0;
    this.onDrained?.();
  }
}
