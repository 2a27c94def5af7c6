/** Log lines of a followed source: its state, its nodes, and how they are read. What was logged before is not logged again. */
import type {Logger} from "pino";
import type {HeadsEvent} from "../../sync/rpc/newHeads.ts";
import type {NodesEvent} from "../../sync/rpc/nodes.ts";
import type {SourceEvent, SourceState} from "../../workers/job/importSource.ts";

const STATE_LINES: Readonly<Record<SourceState, string>> = {
  reading: "blocks are read from the node up to its head",
  following: "the node's head is reached; new blocks are imported as they come",
  waiting: "waiting for the node: no node answers",
};

const NODE_LINES: Readonly<Record<NodesEvent["state"], string>> = {
  up: "the node answers",
  down: "the node does not answer as it should; it is tried again",
  refused: "the node is not used",
};

const HEADS_LINES: Readonly<Record<HeadsEvent["state"], string>> = {
  subscribed: "new blocks are announced by WebSocket",
  polling: "no node announces new blocks; the nodes are asked for them",
};

export class SourceLog {
  private readonly log: Logger;
  /** By node, what was logged last. */
  private readonly nodes = new Map<string, NodesEvent["state"]>();
  private readonly methods = new Map<string, string>();
  /** Why blocks are unverified, as logged last. */
  private unverified: string | undefined;

  constructor(log: Logger) {
    this.log = log;
  }

  noteState(state: SourceState, reason: string | undefined): void {
    const fields = {state, ...(reason === undefined ? {} : {reason})};
    this.log[state === "waiting" ? "warn" : "info"](fields, STATE_LINES[state]);
  }

  noteMethod({name, method, why}: Extract<SourceEvent, {kind: "method"}>): void {
    if (this.methods.get(name) === method) return;
    this.methods.set(name, method);
    this.log.info({node: name, method, why}, "how blocks are read from this node");
  }

  noteNode({name, state, reason}: NodesEvent): void {
    if (this.nodes.get(name) === state) return;
    this.nodes.set(name, state);
    this.log[state === "up" ? "info" : "warn"]({node: name, state, reason}, NODE_LINES[state]);
  }

  noteVerification({block, unverified}: Extract<SourceEvent, {kind: "verification"}>): void {
    if (unverified === this.unverified) return;
    this.unverified = unverified;
    if (unverified === undefined) this.log.info({block}, "blocks are verified again by their headers");
    else
      this.log.warn({block, reason: unverified}, "blocks are unverified: no header vouches for their state");
  }

  noteHeads({name, state, reason}: HeadsEvent): void {
    this.log.info({node: name, state, reason}, HEADS_LINES[state]);
  }

  noteReorganisation({latest, ancestor}: Extract<SourceEvent, {kind: "reorganised"}>): void {
    this.log.warn(
      {latest, ancestor},
      "the node's chain was reorganised: the blocks above the common ancestor were removed, those of the new branch come now",
    );
  }
}
