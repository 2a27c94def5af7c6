/**
 * One of several nodes, and its health:
 *
 *             work done                    failure: wait, twice as long each time
 *   unknown ------------> up  ----------------------------> down     retried after the delay
 *                          ^ <---------------------------- refused   the same, for a node of another chain
 *                                 work done again
 *
 * Work goes to a node that is unknown, up, or has answered a probe since it went down.
 */
import {Backoff, type BackoffSettings} from "./backoff.ts";
import type {EndpointSettings} from "./endpoint.ts";
import {isSameFailure, type Node, NodeFailure, NodeRefusal} from "./node.ts";
import {NodeCaller} from "./nodeCaller.ts";

export type NodeState = "up" | "down" | "refused";

class WrongChain extends NodeFailure {}

export class Candidate {
  readonly caller: NodeCaller;
  private readonly backoff: Backoff;
  private state: NodeState | "unknown" = "unknown";
  private reason = "";
  /** The last probe succeeded, and nothing has failed since. */
  private isProbed = false;
  private isProbing = false;
  private retryAtMs = 0;
  /** A success before it does not reset the backoff, so that the delays of a flapping node keep growing. */
  private stableFromMs = 0;
  private failureCount = 0;
  private checkedEpoch = -1;
  private epoch = 0;

  /** @param onState - called when the state changes, or the reason why the node is not up (isSameFailure) */
  constructor(
    url: URL,
    name: string,
    settings: EndpointSettings,
    private readonly chainId: bigint | undefined,
    backoff: BackoffSettings,
    private readonly onState: (state: NodeState, reason: string) => void,
  ) {
    this.caller = new NodeCaller(url, settings, () => void this.epoch++, name);
    this.backoff = new Backoff(backoff);
  }

  get isHealthy(): boolean {
    return this.state === "unknown" || this.state === "up" || this.isProbed;
  }

  /** Milliseconds until the node may be retried; 0 or less if it may be used now. */
  get waitMs(): number {
    return this.isHealthy ? 0 : this.retryAtMs - performance.now();
  }

  /** Runs the work and records its outcome. @throws what the work throws, NodeFailure, or the signal's reason */
  async run<Result>(
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
    onBytes?: (bytes: number) => void,
  ): Promise<Result> {
    const failureCount = this.failureCount;
    try {
      await this.checkChain(signal);
      const result = await work(this.caller.bind(signal, onBytes));
      // If a connection ended during the work, another node may have this address now.
      await this.checkChain(signal);
      this.noteSuccess(failureCount);
      return result;
    } catch (error) {
      // A failure after the signal was aborted is a consequence of the abort.
      if (signal.aborted) throw signal.reason;
      if (error instanceof NodeFailure) this.noteFailure(error, failureCount);
      else if (error instanceof NodeRefusal) {
        if (error.isCallError) this.noteSuccess(failureCount);
        else this.noteFailure(new NodeFailure(error.message, {cause: error}), failureCount);
      }
      throw error;
    }
  }

  /** Makes a small call, so that work does not wait for a node that is still down. Never rejects. */
  async probe(signal: AbortSignal): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    const failureCount = this.failureCount;
    try {
      if (this.chainId === undefined) await this.askChainId(signal);
      else await this.checkChain(signal);
      this.isProbed = failureCount === this.failureCount;
    } catch (error) {
      if (!signal.aborted && error instanceof NodeFailure) this.noteFailure(error, failureCount);
    } finally {
      this.isProbing = false;
    }
  }

  private async checkChain(signal: AbortSignal): Promise<void> {
    if (this.chainId === undefined || this.checkedEpoch === this.epoch) return;
    const epoch = this.epoch;
    const answer = await this.askChainId(signal);
    const isQuantity = typeof answer === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(answer);
    if (!isQuantity) throw new NodeFailure("its response to eth_chainId is not a chain id");
    if (BigInt(answer) !== this.chainId)
      throw new WrongChain(`expected a node of chain ${this.chainId}, got chain ${BigInt(answer)}`);
    // The epoch before the call: if a connection ended during the call, the next check asks again.
    this.checkedEpoch = epoch;
  }

  private askChainId(signal: AbortSignal): Promise<unknown> {
    return this.caller.bind(signal).request("eth_chainId", []);
  }

  /** @param failureCount - when the work began. The outcome of work from before the last failure is ignored */
  private noteSuccess(failureCount: number): void {
    if (failureCount !== this.failureCount) return;
    this.isProbed = false;
    if (performance.now() >= this.stableFromMs) this.backoff.reset();
    this.change("up", "it answers");
  }

  private noteFailure(failure: NodeFailure, failureCount: number): void {
    // Of concurrent failures, only the first counts.
    if (failureCount !== this.failureCount) return;
    this.failureCount++;
    this.isProbed = false;
    this.checkedEpoch = -1;
    const delayMs = Math.max(this.backoff.next(), failure.retryAfterMs ?? 0);
    this.retryAtMs = performance.now() + delayMs;
    this.stableFromMs = this.retryAtMs + delayMs;
    this.change(failure instanceof WrongChain ? "refused" : "down", this.caller.describe(failure));
  }

  private change(state: NodeState, reason: string): void {
    // While a node stays down, a new reason is reported, but not one that differs only in its numbers.
    if (this.state === state && (state === "up" || isSameFailure(this.reason, reason))) return;
    this.state = state;
    this.reason = reason;
    this.onState(state, reason);
  }
}
