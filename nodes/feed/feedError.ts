/** A message of a feed is invalid, or does not fit the store. The message says why. */
export class FeedError extends Error {
  override readonly name: string = "FeedError";
}

/** Bytes that are not a message of a feed. Readers skip them when they search backwards. */
export class NoMessage extends FeedError {}
