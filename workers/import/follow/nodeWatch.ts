/** Reports the state of the nodes' source when it changes: "waiting" while no node answers, otherwise what the reader says. */

import type {NodesEvent} from "../../../nodes/rpc/nodes.ts";
import type {SourceEvent, SourceState} from "../../messages/importSource.ts";

export class NodeWatch {
  /** By name, why a node does not answer. */
  private readonly reasons = new Map<string, string>();
  private state: SourceState = "reading";
  /** Why the reader waits. */
  private reason: string | undefined;
  /** State and reason that were reported last. */
  private told: string | undefined;

  /** @param nodes - how many there are */
  constructor(
    private readonly nodes: number,
    private readonly onEvent: (event: SourceEvent) => void,
  ) {}

  /** @param reason - of "waiting" */
  set(state: SourceState, reason?: string): void {
    this.state = state;
    this.reason = reason;
    this.tell();
  }

  noteNode(event: NodesEvent): void {
    if (event.state === "up") this.reasons.delete(event.name);
    else this.reasons.set(event.name, event.reason);
    this.onEvent(event);
    // Until the first block has come, the reader has not said where it is.
    this.tell();
  }

  private tell(): void {
    const isSilent = this.reasons.size === this.nodes;
    const state = isSilent ? "waiting" : this.state;
    const reason = isSilent
      ? [...this.reasons].map(([name, why]) => `${name}: ${why}`).join("; ")
      : this.reason;
    const told = `${state} ${reason}`;
    if (told === this.told) return;
    this.told = told;
    this.onEvent({kind: "state", state, reason});
  }
}
