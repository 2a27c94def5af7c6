/** What --diffs reads from, as /metrics and /readyz show it. */
import type {SourceChange, SourceState} from "../../workers/job/importSource.ts";

/** "ended": nothing more can come. "failed": a line or the store refuses; it may be tried again. */
export type SourceStatusName = SourceState | "ended" | "failed";

const STATES: readonly SourceStatusName[] = ["reading", "following", "waiting", "ended", "failed"];
const CHANGES: readonly SourceChange[] = ["replaced", "truncated", "writer_left", "line_cut"];

export class SourceStatus {
  state: SourceStatusName = "reading";
  /** Why it failed; empty while it has not. */
  reason = "";
  /** When a block last became durable here, ms since 1970; undefined: not since this process started. */
  receivedMs: number | undefined;
  /** Attempts to go on after a failure. */
  retries = 0;
  readonly changes = new Map<SourceChange, number>(CHANGES.map(change => [change, 0]));

  /** The state's name is the one with a 1. */
  *states(): Generator<[SourceStatusName, 0 | 1]> {
    for (const state of STATES) yield [state, state === this.state ? 1 : 0];
  }

  countChange(change: SourceChange): void {
    this.changes.set(change, (this.changes.get(change) ?? 0) + 1);
  }
}
