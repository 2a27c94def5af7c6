/** The state of the source of --diffs, for /metrics and /readyz. */
import type {SourceChange, SourceState} from "../../workers/job/importSource.ts";

/** "ended": no more lines can come. "failed": a line was refused or the store failed, and the import may be tried again. */
export type SourceStatusName = SourceState | "ended" | "failed";

const STATES: readonly SourceStatusName[] = ["reading", "following", "waiting", "ended", "failed"];
const CHANGES: readonly SourceChange[] = ["replaced", "truncated", "writer_left", "line_cut"];

export class SourceStatus {
  state: SourceStatusName = "reading";
  /** Why the import failed. Empty unless the state is "failed". */
  reason = "";
  /** When this process last stored a block durably, in ms since 1970. undefined if it has stored none. */
  receivedMs: number | undefined;
  /** Number of attempts to continue after a failure. */
  retries = 0;
  readonly changes = new Map<SourceChange, number>(CHANGES.map(change => [change, 0]));

  /** All states: 1 for the current one, 0 for the others. */
  *states(): Generator<[SourceStatusName, 0 | 1]> {
    for (const state of STATES) yield [state, state === this.state ? 1 : 0];
  }

  countChange(change: SourceChange): void {
    this.changes.set(change, (this.changes.get(change) ?? 0) + 1);
  }
}
