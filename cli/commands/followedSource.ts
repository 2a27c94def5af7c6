/** A source that is followed while the service answers requests: where it is, and what its changes are called. */
import type {ImportSource, SourceChange, SourceState} from "../../workers/job/importSource.ts";

export interface FollowedSource {
  /** For the log: a path, or the nodes without their keys. */
  readonly name: string;
  /** Whether a failed import can be tried again. */
  readonly canRetry: boolean;
  /** Whether a new attempt reads everything again, so that a late failure costs as much time as it took. */
  readonly startsOver: boolean;
  readonly stateLines: Readonly<Record<SourceState, string>>;
  readonly changeLines: Readonly<Partial<Record<SourceChange, string>>>;
  /** @param attempt - from 0; each failed import is followed by another attempt */
  describe(attempt: number): ImportSource;
}
