/** NATS, or the part of it that has the stream, does not answer. It is worth another try. */
import {FeedError} from "./feedError.ts";

export class NatsAway extends Error {
  override readonly name = "NatsAway";
}

/** @returns the error itself if it is about what the stream holds */
export function awayOr(error: unknown): Error {
  if (error instanceof FeedError || error instanceof NatsAway) return error;
  const {message, name} = error as Error;
  return new NatsAway(`NATS: ${message || name}`, {cause: error});
}
