/** A message of a feed that is not what a publisher sends, or that does not fit what is held. The message says what is wrong. */
export class FeedError extends Error {
  override readonly name: string = "FeedError";
}

/** Bytes that are no message of a feed. A reader that looks back passes them over. */
export class NoMessage extends FeedError {}
