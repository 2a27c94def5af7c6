/** A message of a feed is invalid, or does not fit the store. */
export class FeedError extends Error {
  override readonly name: string = "FeedError";
}

/** Not a message of a feed. Readers that scan backwards skip it. */
export class NoMessage extends FeedError {}
