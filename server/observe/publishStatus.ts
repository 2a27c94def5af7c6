/** Where publishing stands, for /metrics, /readyz and the log. */

/**
 *   published   the stream has every block that is held here
 *   behind      the stream has blocks that are not held here yet: another service publishes them
 *   waiting     NATS does not answer. Publishing catches up when it does
 *   refused     nothing can be published, for a reason that does not pass by itself
 */
export type PublishStateName = "published" | "behind" | "waiting" | "refused";

export const PUBLISH_STATES: readonly PublishStateName[] = ["published", "behind", "waiting", "refused"];

export class PublishStatus {
  state: PublishStateName = "waiting";
  /** Why nothing is published. Empty unless the state is "waiting" or "refused". */
  reason = "NATS was not reached yet";
  /** The newest block of the stream that is held here. undefined: none was seen yet. */
  block: number | undefined;

  /** Of the newest snapshot for replicas. undefined: none was seen yet. */
  snapshotBlock: number | undefined;
  /** Why the last upload of one failed. Empty unless it did. */
  snapshotFailure = "";

  /** @returns lines for /readyz */
  describe(): string[] {
    const {state, reason, snapshotFailure} = this;
    return [
      ...(reason === "" ? [] : [`publishing is ${state}: ${reason}`]),
      ...(snapshotFailure === "" ? [] : [`no snapshot for replicas can be uploaded: ${snapshotFailure}`]),
    ];
  }
}
