/** A node as the readers of blocks see it: one try for each call. */
import type {Node} from "../../../nodes/rpc/node.ts";
import {NodeCaller} from "../../../nodes/rpc/nodeCaller.ts";

const SETTINGS = {timeoutMs: 3_600_000, maxAnswerBytes: 256 << 20, connections: 4};

/** Its idle connections keep no process alive. */
export function callNode(url: string): Node {
  return new NodeCaller(new URL(url), SETTINGS, () => {}).bind(new AbortController().signal);
}
