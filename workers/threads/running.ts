export interface Running<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Asks it to end after the current block. */
  stop(): void;
}
