/** A node as the readers of blocks see it: one try for each call. */
import {type Node, NodeRefusal} from "../../../nodes/rpc/node.ts";
import {NodeCaller} from "../../../nodes/rpc/nodeCaller.ts";

const SETTINGS = {timeoutMs: 3_600_000, maxAnswerBytes: 256 << 20, connections: 4};

/** Its idle connections keep no process alive. */
export function callNode(url: string): Node {
  return new NodeCaller(new URL(url), SETTINGS, () => {}).bind(new AbortController().signal);
}

/** anvil as if it had no prestateTracer, so that stateDiff is chosen. It has no trace_call, which probes for that. */
export function withoutPrestate(node: Node): Node {
  const request: Node["request"] = async (method, params) => {
    if (method === "debug_traceCall") throw new NodeRefusal("the method does not exist", -32601);
    return method === "trace_call" ? {stateDiff: {}} : node.request(method, params);
  };
  return {...node, request};
}
