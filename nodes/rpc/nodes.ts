/**
 * Several nodes that hold the same chain. Work runs against the first healthy one, in the order of the settings until
 * `putFirst` or `putLast` changes it. If none is healthy, it waits.
 */
import {LinkedStop, sleep} from "../../client/rpc/abortable.ts";
import {type BackoffSettings, DEFAULT_BACKOFF} from "./backoff.ts";
import {Candidate, type NodeState} from "./candidate.ts";
import {type Node, NodeFailure, NodeRefusal} from "./node.ts";

/** Part of an import job: structured clone can copy it. */
export interface NodesSettings {
  /** http or https, at least one. A user and password are sent as basic authorization. */
  readonly urls: readonly string[];
  /** Sent to every node, for authentication. Names in lower case. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** What eth_chainId must say. A node of another chain is not used. */
  readonly chainId?: bigint | undefined;
  /** For one HTTP request: connecting, head and body together. */
  readonly timeoutMs: number;
  /** For one HTTP answer, which may be that of a batch. */
  readonly maxAnswerBytes: number;
}

/** One per change of the state, or of the reason why it is not up. */
export interface NodesEvent {
  readonly kind: "node";
  /** Scheme, host and port. The second URL of the same host has (2) after it, and so on. */
  readonly name: string;
  readonly state: NodeState;
  /** In plain English, one line without keys. It may repeat what the node wrote. */
  readonly reason: string;
}

/** HTTP requests that one node has at the same time. */
const CONNECTIONS = 16;
/**
 * How often work is tried per node while nodes refuse it for a reason of their own, such as a block that they do not
 * have yet.
 */
const MAX_REFUSALS = 3;

export class Nodes {
  /** In the order in which they are asked. */
  private candidates: readonly Candidate[];
  private readonly closing = new AbortController();

  /** @param backoff - waits after failures of one node */
  constructor(
    settings: NodesSettings,
    onEvent: (event: NodesEvent) => void,
    backoff: BackoffSettings = DEFAULT_BACKOFF,
  ) {
    const {headers, timeoutMs, maxAnswerBytes} = settings;
    const callSettings = {headers, timeoutMs, maxAnswerBytes, connections: CONNECTIONS};
    const urls = settings.urls.map(text => new URL(text));
    this.candidates = urls.map((url, at) => {
      // Two URLs of one host would have the same name: the parts in which they differ are not shown.
      const earlier = urls.slice(0, at).filter(({origin}) => origin === url.origin).length;
      const name = earlier === 0 ? url.origin : `${url.origin} (${earlier + 1})`;
      const onState = (state: NodeState, reason: string) => {
        if (!this.closing.signal.aborted) onEvent({kind: "node", name, state, reason});
      };
      return new Candidate(url, name, callSettings, settings.chainId, backoff, onState);
    });
  }

  /**
   * Runs `work` against one node, and again after a NodeFailure: at once with another healthy node, or else after a
   * wait that grows. So the work may run several times, and only its last result counts. A NodeRefusal is a failure of
   * that node too, unless it is of the call (`isOfCall`), or nodes have refused the work MAX_REFUSALS times for each
   * node that there is.
   *
   * @param onBytes - called with the length of each part of an answer to the work's requests
   * @returns the work's result
   * @throws what the work throws, except NodeFailure and refusals that another try may end; the signal's reason; Error
   *   after `close`
   */
  use<Result>(
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
    onBytes?: (bytes: number) => void,
  ): Promise<Result> {
    return this.live(signal, life => this.runUntilDone(work, life, onBytes));
  }

  /**
   * Runs `work` once with each healthy node except the one that work goes to now. Failures and refusals of nodes are
   * only noted, and so is the end by the signal or by `close`.
   *
   * @throws what the work throws besides
   */
  async useOthers(work: (node: Node) => Promise<void>, signal: AbortSignal): Promise<void> {
    const [, ...others] = this.candidates.filter(candidate => candidate.isHealthy);
    await this.live(signal, life =>
      runAll(others, work, life).catch(error => {
        if (!life.aborted) throw error;
      }),
    );
  }

  /**
   * Runs `work` once against every node that is not left alone, at the same time.
   *
   * @returns the results of the nodes that answered, and of each other node what it does: it does not answer (its state
   *   tells why), or it refuses
   * @throws what the work throws besides; the signal's reason
   */
  useEach<Result>(
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<{results: Result[]; silent: string[]}> {
    const due = this.candidates.filter(candidate => candidate.waitMs <= 0);
    const alone = this.candidates.filter(candidate => !due.includes(candidate)).map(describeSilence);
    return this.live(signal, async life => {
      life.throwIfAborted();
      const {results, silent} = await runAll(due, work, life);
      return {results, silent: [...alone, ...silent]};
    });
  }

  /** @param name - of the node that is asked before the others from now on */
  putFirst(name: string): void {
    const [named, others] = this.part(name);
    this.candidates = [...named, ...others];
  }

  /** @param name - of the node that is asked after the others from now on */
  putLast(name: string): void {
    const [named, others] = this.part(name);
    this.candidates = [...others, ...named];
  }

  /** Ends every connection, and every use with an error. */
  async close(): Promise<void> {
    this.closing.abort(new Error("the nodes are closed"));
    await Promise.all(this.candidates.map(({caller}) => caller.close()));
  }

  private part(name: string): [named: Candidate[], others: Candidate[]] {
    const isNamed = ({caller}: Candidate): boolean => caller.name === name;
    return [this.candidates.filter(isNamed), this.candidates.filter(candidate => !isNamed(candidate))];
  }

  /** Runs with a signal that ends with `signal` or with `close`. */
  private async live<Result>(
    signal: AbortSignal,
    run: (life: AbortSignal) => Promise<Result>,
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
        const isRefusal = error instanceof NodeRefusal && !error.isOfCall;
        if (!(error instanceof NodeFailure || isRefusal)) throw error;
        if (isRefusal && --refusalsLeft === 0) throw error;
        continue;
      }
      await this.waitForOne(signal);
    }
  }

  /** @returns the node to ask, or undefined while each is left alone */
  private choose(): Candidate | undefined {
    const due = this.candidates.filter(candidate => candidate.waitMs <= 0);
    const healthy = due.find(candidate => candidate.isHealthy);
    if (healthy === undefined) return due[0];
    for (const candidate of due) if (!candidate.isHealthy) void candidate.probe(this.closing.signal);
    return healthy;
  }

  private async waitForOne(signal: AbortSignal): Promise<void> {
    const waitMs = Math.min(...this.candidates.map(candidate => candidate.waitMs));
    await sleep(Math.max(0, Math.ceil(waitMs)), signal);
  }
}

/**
 * Runs the work with each, at the same time.
 *
 * @throws what the work throws besides failures and refusals of nodes, once all have ended
 */
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
