/** Where publishing stands, for /metrics, /readyz and the log. */
import {withCause} from "./withCause.ts";

/**
 *   published   the stream has all stored blocks from its own first one on, or from the newest snapshot on
 *   incomplete  it ends with the newest stored block, but lacks earlier ones, and no snapshot replaces them yet
 *   behind      it has blocks that are not stored here yet: another service publishes them
 *   waiting     NATS does not answer. Publishing catches up when it does
 *   refused     nothing can be published, for a reason that does not pass by itself
 */
export const PUBLISH_STATES = ["published", "incomplete", "behind", "waiting", "refused"] as const;
export type PublishStateName = (typeof PUBLISH_STATES)[number];

export class PublishStatus {
  state: PublishStateName = "waiting";
  /** Empty if the state is "published" or "behind". */
  reason = "NATS was not reached yet";
  /** The newest block of the stream that is in the store. undefined: none was seen yet. */
  block: number | undefined;

  /** Of the newest snapshot for replicas. undefined: none was seen yet. */
  snapshotBlock: number | undefined;
  /** Why the last upload of one failed. Empty unless it did. */
  snapshotFailure = "";

  /** @returns lines for /readyz. @param isPublic - without causes (readiness.ts) */
  describe(isPublic: boolean): string[] {
    const lines: string[] = [];
    if (this.reason !== "") lines.push(withCause(`publishing is ${this.state}`, this.reason, isPublic));
    if (this.snapshotFailure !== "")
      lines.push(withCause("no snapshot for replicas can be uploaded", this.snapshotFailure, isPublic));
    return lines;
  }
}
