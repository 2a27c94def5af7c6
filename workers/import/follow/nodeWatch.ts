/** Reports the state of the nodes' source when it changes: "waiting" while no node answers, otherwise what the reader says. */
import type {NodesEvent} from "../../../sync/rpc/nodes.ts";
import type {SourceEvent, SourceState} from "../../job/importSource.ts";

export class NodeWatch {
  /** By name, why a node does not answer. */
  private readonly reasons = new Map<string, string>();
  private state: SourceState = "reading";
  private told: SourceState | undefined;

  /** @param nodes - how many there are */
  constructor(
    private readonly nodes: number,
    private readonly onEvent: (event: SourceEvent) => void,
  ) {}

  set(state: "reading" | "following"): void {
    this.state = state;
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
    const state = this.reasons.size === this.nodes ? "waiting" : this.state;
    if (state === this.told) return;
    this.told = state;
    const reasons = [...this.reasons].map(([name, reason]) => `${name}: ${reason}`).join("; ");
    this.onEvent({kind: "state", state, ...(state === "waiting" ? {reason: reasons} : {})});
  }
}
