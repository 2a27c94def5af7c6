/** Logs changes of a followed source: its state, its nodes, and how they are read. */
import type {Logger} from "pino";
import type {HeadsEvent} from "../../../nodes/rpc/newHeads.ts";
import {isSameFailure} from "../../../nodes/rpc/node.ts";
import type {NodesEvent} from "../../../nodes/rpc/nodes.ts";
import type {SourceEvent, SourceState} from "../../../workers/messages/importSource.ts";
import type {SourceStatus} from "../../observe/sourceStatus.ts";

/** `SOURCE` becomes node or feed. */
const STATE_LINES: Readonly<Record<SourceState, string>> = {
  reading: "blocks are read from the SOURCE up to its head",
  following: "the SOURCE's head is reached; new blocks are imported as they come",
  waiting: "waiting for the SOURCE",
};
const REORGANISED =
  "the SOURCE's chain was reorganised: the blocks above the common ancestor were removed, those of the new branch are read";

const BEGINS_AGAIN =
  "the SOURCE's chain was reorganised below the first block of the slices: they begin again at its head";
const OPEN_RESETS =
  "accounts were removed and made again: only the SOURCE's word shows it, and no other node could be asked";
const INCOMPLETE_SLICE =
  "more slots of these contracts changed than the trace of the block names: some may not be provable";
/** Most accounts in a log line. */
const MOST_NAMED = 10;

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
  /** What was logged last, by subject. */
  private readonly last = new Map<string, string | undefined>();

  constructor(
    private readonly log: Logger,
    private readonly status: SourceStatus,
  ) {}

  noteState(state: SourceState, reason: string | undefined): void {
    if (this.isNew("state", `${state} ${reason}`))
      this.log[state === "waiting" ? "warn" : "info"]({state, reason}, this.named(STATE_LINES[state]));
  }

  note(event: Exclude<SourceEvent, {kind: "state"}>): void {
    const {log, status} = this;
    switch (event.kind) {
      case "chosen":
        status.chosen = event.source;
        if (this.isNew("chosen", event.source))
          log.info({chosen: event.source, why: event.why}, "the way to read blocks is chosen");
        break;
      case "method": {
        const {name, method, why} = event;
        if (this.isNew(`method of ${name}`, method))
          log.info({node: name, method, why}, "how blocks are read from this node");
        break;
      }
      case "node": {
        const {name, state, reason} = event;
        if (state === "up") status.nodes.delete(name);
        else status.nodes.set(name, {state, reason});
        if (this.isNew(`state of ${name}`, state))
          log[state === "up" ? "info" : "warn"]({node: name, state, reason}, NODE_LINES[state]);
        break;
      }
      case "verification": {
        const {block, unverified: reason} = event;
        if (!this.isNew("unverified", reason)) break;
        if (reason === undefined) log.info({block}, "blocks are verified again");
        else
          log.warn(
            {block, reason},
            "blocks are unverified: no header or finalization commits to their state",
          );
        break;
      }
      case "resets": {
        const {block, accounts} = event;
        status.openResets += accounts.length;
        log.warn({block, accounts: accounts.slice(0, MOST_NAMED)}, this.named(OPEN_RESETS));
        break;
      }
      case "missed":
        log.warn(
          {from: event.from, to: event.to},
          "blocks cannot be proved: the node no longer had their states",
        );
        break;
      case "incomplete": {
        const {block, contracts} = event;
        status.incompleteSlices++;
        log.warn({block, contracts: contracts.slice(0, MOST_NAMED)}, INCOMPLETE_SLICE);
        break;
      }
      case "senders":
        log.error(
          {reason: event.reason},
          "the thread that recovers senders ahead has ended; senders are recovered as their blocks are executed",
        );
        break;
      case "heads":
        log.info({node: event.name, state: event.state, reason: event.reason}, HEADS_LINES[event.state]);
        break;
      case "reorganised":
        status.reorganisations++;
        if (event.beginsAgain) log.warn({latest: event.latest}, this.named(BEGINS_AGAIN));
        else log.warn({latest: event.latest, ancestor: event.ancestor}, this.named(REORGANISED));
    }
  }

  private named(line: string): string {
    return line.replace("SOURCE", this.status.flag === "feed" ? "feed" : "node");
  }

  private isNew(subject: string, value: string | undefined): boolean {
    const last = this.last.get(subject);
    if (last === value || (last !== undefined && value !== undefined && isSameFailure(last, value)))
      return false;
    this.last.set(subject, value);
    return true;
  }
}
