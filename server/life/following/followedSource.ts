/** What a service imports while it answers requests: layer-2 nodes, or block differences. */

import type {FeedSource, ImportSource, NodeSource} from "../../../workers/messages/importSource.ts";
import type {SourceStatus} from "../../observe/sourceStatus.ts";

/** How long a node is followed that was chosen after a failure, before the others are looked at. */
const FOLLOWED_MS = 60_000;

export interface FollowedSource {
  /** For the log: a path, or the nodes without their keys. */
  readonly name: string;
  /** The flag that names it. */
  readonly flag: SourceStatus["flag"];
  readonly canRetry: boolean;
  /** @param attempt - 0 for the first one, then 1 more after each failed import */
  describe(attempt: number): ImportSource;
}

/** @param path - of a file, which is read once, or "-" for standard input */
export function createFollowedFile(path: string): FollowedSource {
  return {name: path, flag: "diffs", canRetry: false, describe: () => ({kind: "diffs", path})};
}

export function createFollowedFeed(source: FeedSource): FollowedSource {
  return {
    name: source.nats.urls.map(url => new URL(url).host).join(", "),
    flag: "feed",
    canRetry: true,
    describe: () => source,
  };
}

export function createFollowedNode(source: NodeSource): FollowedSource {
  const {nodes} = source;
  return {
    name: describeNodes(source),
    flag: "l2",
    canRetry: true,
    // After a failure another node is asked first, and followed for a while: the one before may have given a wrong block.
    describe: attempt => {
      const first = attempt % nodes.urls.length;
      const urls = [...nodes.urls.slice(first), ...nodes.urls.slice(0, first)];
      return {...source, nodes: {...nodes, urls}, surveyAfterMs: attempt === 0 ? 0 : FOLLOWED_MS};
    },
  };
}

/** Scheme, host and port of each. The other parts of a URL may hold keys. */
function describeNodes({nodes}: NodeSource): string {
  return nodes.urls.map(url => new URL(url).origin).join(", ");
}
