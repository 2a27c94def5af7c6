/** The output of one HTTP request, with back-pressure (http/reply.ts). */
import type {Piece} from "./taskText.ts";

export interface ReplySink {
  /** The client asked for bytes where a method has them. */
  readonly acceptsBytes: boolean;
  readonly unsentBytes: number;
  /** The reader takes no more bytes now. `onDrained` will be called when it does. */
  readonly isBlocked: boolean;
  /** Called when the client goes away before the answer is complete. */
  onAborted: (() => void) | undefined;
  onDrained: (() => void) | undefined;
  /** The body is bytes (application/octet-stream), not JSON. Called before the first `push` or `finish`. */
  sendAsBytes(): void;
  /** Adds to the body of a 200; more follows. Takes over the pieces, and releases them when they are sent. */
  push(pieces: readonly Piece[]): void;
  /** Like `push`, for the last pieces of the body. */
  finish(pieces: readonly Piece[]): void;
  /** Closes the connection, so that the client sees that the answer is incomplete. */
  close(): void;
  /** Rejects the request with HTTP 503. @param head - the newest stored block, if the request asks for one above it */
  sendBusy(text: string, retryAfterSeconds: number, head?: number): void;
  /** Answers a request that has only notifications. */
  sendNothing(): void;
  /** The client (clientAddress.ts). May not be called after the reply has ended. */
  readClient(): string;
}
