/** Detects how a node traces blocks. */
import {type Node, NodeFailure, NodeRefusal, orRefusal} from "../../rpc/node.ts";
import {PRESTATE_OPTIONS} from "./prestateTrace.ts";
import {STATE_DIFF_KINDS} from "./stateDiffTrace.ts";

/** `prestate`: debug_traceBlockByNumber. `stateDiff`: trace_replayBlockTransactions. */
export type TraceMethod = "prestate" | "stateDiff";

const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Probes each node once. */
export class TraceMethods {
  /** By name of the node. */
  private readonly known = new Map<string, TraceMethod>();

  /** @throws NodeFailure if the node supports neither */
  async of(node: Node): Promise<TraceMethod> {
    const method = this.known.get(node.name) ?? (await probeTraces(node));
    if (typeof method !== "string") throw new NodeFailure(method.why);
    this.known.set(node.name, method);
    return method;
  }
}

/** Traces a call: in an empty block, all tracers give the same. @returns the reason if the node supports neither */
export async function probeTraces(node: Node): Promise<TraceMethod | {readonly why: string}> {
  const call = {from: ZERO_ADDRESS, to: ZERO_ADDRESS, value: "0x0"};
  const traced = await orRefusal(node.request("debug_traceCall", [call, "latest", PRESTATE_OPTIONS]));
  if (isObject(traced) && isObject(traced.pre) && isObject(traced.post)) return "prestate";
  const replayed = await orRefusal(node.request("trace_call", [call, STATE_DIFF_KINDS, "latest"]));
  if (isObject(replayed) && (isObject(replayed.stateDiff) || replayed.stateDiff === null)) return "stateDiff";
  const reasons = [traced, replayed].map(answer =>
    answer instanceof NodeRefusal ? answer.message : "the response is of another tracer",
  );
  const expected = "expected prestateTracer (debug namespace) or stateDiff (trace namespace)";
  return {why: `the node cannot trace blocks: ${expected}: ${reasons.join("; ")}`};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && Boolean(value) && !Array.isArray(value);
}
