/** An import or a check under way. */
export interface Running<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Asks it to end after the block at hand. */
  stop(): void;
}
