/** What happens to the nodes of `proofd import --l2`, as lines for people. */
import type {SourceEvent} from "../../workers/messages/importSource.ts";

/** @returns undefined for what needs no line: the progress shows it */
export function describeSourceEvent(event: SourceEvent): string | undefined {
  switch (event.kind) {
    case "chosen":
      return `blocks are read by ${event.source}: ${event.why}`;
    case "method":
      return `${event.name} gives blocks by ${event.method}: ${event.why}`;
    case "node":
      return `${event.name} is ${event.state}: ${event.reason}`;
    case "heads":
      return `${event.name}: ${event.state}: ${event.reason}`;
    case "reorganised":
      return `the node's chain was reorganised: blocks ${event.ancestor + 1} to ${event.latest} were removed`;
    case "verification":
      return event.unverified === undefined
        ? `blocks from ${event.block} on are verified again`
        : `blocks from ${event.block} on are unverified: ${event.unverified}`;
    case "senders":
      return `the thread that recovers senders ahead has ended; blocks take longer: ${event.reason}`;
    case "state":
      return undefined;
  }
}
