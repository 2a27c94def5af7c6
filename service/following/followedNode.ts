/** The layer-2 nodes of --l2. */
import type {NodeSource} from "../../workers/job/importSource.ts";
import type {FollowedSource} from "./followedSource.ts";

const FOLLOWED_MS = 60_000;

export function createFollowedNode(source: NodeSource): FollowedSource {
  const {nodes} = source;
  return {
    name: describeNodes(source),
    canRetry: true,
    startsOver: false,
    stateLines: {
      reading: "blocks are read from the node up to its head",
      following: "the node's head is reached; new blocks are imported as they come",
      waiting: "waiting for the node: no node answers",
    },
    changeLines: {
      reorganised:
        "the node's chain was reorganised: the blocks above the common ancestor were removed, those of the new branch come now",
    },
    // After a failure another node is asked first, and followed for a while: the one before may have given a wrong block.
    describe: attempt => {
      const first = attempt % nodes.urls.length;
      const urls = [...nodes.urls.slice(first), ...nodes.urls.slice(0, first)];
      return {...source, nodes: {...nodes, urls}, surveyAfterMs: attempt === 0 ? 0 : FOLLOWED_MS};
    },
  };
}

/** Scheme, host and port of each. The other parts of a URL may hold keys. */
export function describeNodes({nodes}: NodeSource): string {
  return nodes.urls.map(url => new URL(url).origin).join(", ");
}
