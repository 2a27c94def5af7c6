/** Where the answer to one HTTP request goes (http/reply.ts): as fast as its reader takes it. */
import type {Piece} from "./taskText.ts";

/** What a request is while lanes answer calls of it. */
export interface ReplySink {
  /** Bytes that were pushed and not sent. */
  readonly unsentBytes: number;
  /** The reader does not take what there is; `onDrained` will be called. */
  readonly isBlocked: boolean;
  /** Called when the client goes away before the answer is complete. */
  onAborted: (() => void) | null;
  /** Called when the reader has taken something after it had not. */
  onDrained: (() => void) | null;
  /** Adds to the body of a 200, not the last of it. Takes the pieces over: they are released when they are sent, or not wanted. */
  push(pieces: readonly Piece[]): void;
  /** As `push`, with the last of the body. */
  finish(pieces: readonly Piece[]): void;
  /** Turns the request away for now. */
  sendBusy(text: string, retryAfterSeconds: number): void;
}

/** The same before anything of it is answered. */
export interface OpenReply extends ReplySink {
  /** Who asks. Not when it is over. */
  readClient(): string;
  /** Nothing was asked for. */
  sendNothing(): void;
}
