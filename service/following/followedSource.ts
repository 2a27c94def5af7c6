/** A source that is followed while the service answers requests: how to read it, and the log lines of its changes. */
import type {ImportSource, SourceChange, SourceState} from "../../workers/job/importSource.ts";

export interface FollowedSource {
  /** For the log: a path, or the nodes without their keys. */
  readonly name: string;
  /** Whether a failed import can be tried again. */
  readonly canRetry: boolean;
  /** Whether a new attempt reads everything again from the start. */
  readonly startsOver: boolean;
  readonly stateLines: Readonly<Record<SourceState, string>>;
  readonly changeLines: Readonly<Partial<Record<SourceChange, string>>>;
  /** @param attempt - 0 for the first one, then 1 more after each failed import */
  describe(attempt: number): ImportSource;
}
