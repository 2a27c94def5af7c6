/** Reports changes of the source's state: "waiting" while no node answers, otherwise what the reader says. */
import type {NodesEvent} from "../../../nodes/rpc/nodes.ts";
import type {SourceEvent, SourceState} from "../../messages/importSource.ts";

export class NodeWatch {
  /** By name, why a node does not answer. */
  private readonly reasons = new Map<string, string>();
  private state: SourceState = "reading";
  private reason: string | undefined;
  /** The last reported state, with its reason. */
  private reported: string | undefined;

  constructor(
    private readonly nodes: number,
    private readonly onEvent: (event: SourceEvent) => void,
  ) {}

  /** @param reason - of "waiting" */
  set(state: SourceState, reason?: string): void {
    this.state = state;
    this.reason = reason;
    this.report();
  }

  noteNode(event: NodesEvent): void {
    if (event.state === "up") this.reasons.delete(event.name);
    else this.reasons.set(event.name, event.reason);
    this.onEvent(event);
    this.report();
  }

  private report(): void {
    const isSilent = this.reasons.size === this.nodes;
    const state = isSilent ? "waiting" : this.state;
    const reason = isSilent
      ? [...this.reasons].map(([name, why]) => `${name}: ${why}`).join("; ")
      : this.reason;
    const reported = `${state} ${reason}`;
    if (reported === this.reported) return;
    this.reported = reported;
    this.onEvent({kind: "state", state, reason});
  }
}
