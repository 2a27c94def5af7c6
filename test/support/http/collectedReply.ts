/** An answer that is kept in memory instead of a socket. Its reader stops and continues when it is told to. */
import type {ReplySink} from "../../../server/request/replySink.ts";
import type {Piece} from "../../../server/request/taskText.ts";

export class CollectedReply implements ReplySink {
  unsentBytes = 0;
  isBlocked = false;
  isFinished = false;
  isClosed = false;
  /** Set for a request that was turned away. */
  retryAfterSeconds: number | undefined;
  onAborted: (() => void) | undefined;
  onDrained: (() => void) | undefined;
  private readonly texts: Buffer[] = [];

  /** The body is bytes, and no JSON. */
  isBytes = false;
  readonly acceptsBytes = false;

  readClient(): string {
    return "c";
  }

  sendNothing(): void {
    this.isFinished = true;
  }

  get text(): string {
    return Buffer.concat(this.texts).toString();
  }

  sendAsBytes(): void {
    this.isBytes = true;
  }

  push(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      this.texts.push(Buffer.from(piece.bytes));
      if (this.isBlocked) this.unsentBytes += piece.length;
      piece.release();
    }
  }

  finish(pieces: readonly Piece[]): void {
    this.push(pieces);
    this.isFinished = true;
  }

  close(): void {
    this.isClosed = true;
    this.onAborted?.();
  }

  sendBusy(text: string, retryAfterSeconds: number): void {
    this.retryAfterSeconds = retryAfterSeconds;
    this.texts.push(Buffer.from(text));
    this.isFinished = true;
  }

  /** The reader takes all there is, and continues to take. */
  drain(): void {
    this.isBlocked = false;
    this.unsentBytes = 0;
    this.onDrained?.();
  }
}
