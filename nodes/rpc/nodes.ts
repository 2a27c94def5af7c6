/**
 * Several nodes of the same chain, with failover. Work runs on the first healthy node, in the order of the settings
 * until `putFirst` or `putLast` changes it. If no node is healthy, the work waits.
 */
import {LinkedStop, sleep} from "../../client/rpc/abortable.ts";
import {type BackoffSettings, DEFAULT_BACKOFF} from "./backoff.ts";
import {Candidate, type NodeState} from "./candidate.ts";
import type {EndpointSettings} from "./endpoint.ts";
import {type Node, NodeFailure, NodeRefusal} from "./node.ts";

/** Part of an import job: structured clone can copy it. */
export interface NodesSettings extends Pick<EndpointSettings, "timeoutMs" | "maxAnswerBytes"> {
  /** http or https, at least one. User and password are sent as HTTP basic authentication. */
  readonly urls: readonly string[];
  /** Sent to every node, for authentication. Names in lower case. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** What eth_chainId must return. A node of another chain is not used. */
  readonly chainId?: bigint | undefined;
}

/** The state of a node changed, or the reason why it is not up. */
export interface NodesEvent {
  readonly kind: "node";
  /** Scheme, host and port. The second URL of the same host has (2) after it, and so on. */
  readonly name: string;
  readonly state: NodeState;
  /** For operators: one line without secrets, which may quote the node. */
  readonly reason: string;
}

const CONNECTIONS = 16;
/** Attempts per node while nodes refuse work for reasons of their own, such as a missing block. */
const MAX_REFUSALS = 3;

export class Nodes {
  /** In order of preference. */
  private candidates: readonly Candidate[];
  private readonly closing = new AbortController();

  /** @param backoff - delays after failures of a node */
  constructor(
    settings: NodesSettings,
    onEvent: (event: NodesEvent) => void,
    backoff: BackoffSettings = DEFAULT_BACKOFF,
  ) {
    const {headers, timeoutMs, maxAnswerBytes} = settings;
    const callSettings = {headers, timeoutMs, maxAnswerBytes, connections: CONNECTIONS};
    const urls = settings.urls.map(text => new URL(text));
    this.candidates = urls.map((url, at) => {
      // Two URLs of one host would have the same name, because the parts in which they differ are not shown.
      const earlier = urls.slice(0, at).filter(({origin}) => origin === url.origin).length;
      const name = earlier === 0 ? url.origin : `${url.origin} (${earlier + 1})`;
      const onState = (state: NodeState, reason: string) => {
        if (!this.closing.signal.aborted) onEvent({kind: "node", name, state, reason});
      };
      return new Candidate(url, name, callSettings, settings.chainId, backoff, onState);
    });
  }

  /**
   * Runs `work` on one node, and again after a NodeFailure: at once on another healthy node, or else with a growing
   * delay. A NodeRefusal is retried too, unless it is about the call, up to MAX_REFUSALS times the number of nodes.
   *
   * @param onBytes - called with the length of each chunk of the responses
   * @throws what the work throws, except what is retried; the signal's reason; Error after `close`
   */
  use<Result>(
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
    onBytes?: (bytes: number) => void,
  ): Promise<Result> {
    return this.linked(signal, linked => this.runUntilDone(work, linked, onBytes));
  }

  /** Runs `work` once on each healthy node but that of `use`. Failures are only recorded, an abort is ignored. */
  async useOthers(work: (node: Node) => Promise<void>, signal: AbortSignal): Promise<void> {
    const [, ...others] = this.candidates.filter(candidate => candidate.isHealthy);
    await this.linked(signal, linked =>
      runAll(others, work, linked).catch(error => {
        if (!linked.aborted) throw error;
      }),
    );
  }

  /** Runs `work` once on every node that is not in a retry delay. @returns results, and why each other node has none */
  useEach<Result>(
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<{results: Result[]; silent: string[]}> {
    const due = this.candidates.filter(candidate => candidate.waitMs <= 0);
    const delayed = this.candidates.filter(candidate => !due.includes(candidate)).map(describeSilence);
    return this.linked(signal, async linked => {
      linked.throwIfAborted();
      const {results, silent} = await runAll(due, work, linked);
      return {results, silent: [...delayed, ...silent]};
    });
  }

  putFirst(name: string): void {
    this.sort(candidate => Number(candidate.caller.name !== name));
  }

  putLast(name: string): void {
    this.sort(candidate => Number(candidate.caller.name === name));
  }

  async close(): Promise<void> {
    this.closing.abort(new Error("the nodes are closed"));
    await Promise.all(this.candidates.map(({caller}) => caller.close()));
  }

  /** Stable. */
  private sort(rank: (candidate: Candidate) => number): void {
    this.candidates = this.candidates.toSorted((one, other) => rank(one) - rank(other));
  }

  /** Runs with a signal that `signal` and `close` abort. */
  private async linked<Result>(
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const linked = new LinkedStop(signal, this.closing.signal);
    try {
      return await run(linked.signal);
    } finally {
      linked.stop(new Error("the use has ended"));
    }
  }

  private async runUntilDone<Result>(
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
    onBytes: ((bytes: number) => void) | undefined,
  ): Promise<Result> {
    let refusalsLeft = MAX_REFUSALS * this.candidates.length;
    for (;;) {
      signal.throwIfAborted();
      const candidate = this.choose();
      try {
        if (candidate !== undefined) return await candidate.run(work, signal, onBytes);
      } catch (error) {
        const isRefusal = error instanceof NodeRefusal && !error.isCallError;
        if (!(error instanceof NodeFailure || isRefusal)) throw error;
        if (isRefusal && --refusalsLeft === 0) throw error;
        continue;
      }
      const waitMs = Math.min(...this.candidates.map(candidate => candidate.waitMs));
      await sleep(Math.max(0, Math.ceil(waitMs)), signal);
    }
  }

  /** @returns the node to use; undefined while all are in a retry delay */
  private choose(): Candidate | undefined {
    const due = this.candidates.filter(candidate => candidate.waitMs <= 0);
    const healthy = due.find(candidate => candidate.isHealthy);
    if (healthy === undefined) return due[0];
    for (const candidate of due) if (!candidate.isHealthy) void candidate.probe(this.closing.signal);
    return healthy;
  }
}

/** Runs the work on each node, concurrently. @throws once all have ended, what no node is to blame for */
async function runAll<Result>(
  candidates: readonly Candidate[],
  work: (node: Node) => Promise<Result>,
  signal: AbortSignal,
): Promise<{results: Result[]; silent: string[]}> {
  const results: Result[] = [];
  const silent: string[] = [];
  const runs = await Promise.allSettled(candidates.map(candidate => candidate.run(work, signal)));
  for (const [at, run] of runs.entries())
    if (run.status === "fulfilled") results.push(run.value);
    else if (run.reason instanceof NodeRefusal) silent.push(run.reason.message);
    else if (run.reason instanceof NodeFailure) silent.push(describeSilence(candidates[at] as Candidate));
    else throw run.reason;
  return {results, silent};
}

function describeSilence({caller}: Candidate): string {
  return `${caller.name} does not answer`;
}
