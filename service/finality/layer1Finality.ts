/**
 * Finality by the events of the rollup contract on layer 1. What is final there is recorded once its last block is held here,
 * in the order of layer 1, together with how far layer 1 was read. So a restart goes on where the last process ended.
 */
import type {Logger} from "pino";
import type {FinalityStatus} from "../../server/observe/finalityStatus.ts";
import type {Finalization} from "../../storage/block/finalization.ts";
import type {Layer1Mark} from "../../storage/block/layer1Mark.ts";
import type {FinalityEvent} from "../../storage/commit/finalityStep.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {Contradiction} from "../../sync/finality/contradiction.ts";
import {
  type AwaitedStart,
  type RollupSettings,
  type RollupStep,
  RollupWatch,
} from "../../sync/finality/rollupWatch.ts";
import {readNamedBlock} from "../../sync/rpc/namedBlock.ts";
import type {Nodes} from "../../sync/rpc/nodes.ts";
import type {ProofPool} from "../../workers/engine.ts";
import {finalizable} from "../../workers/job/head.ts";
import type {FinalityWork} from "./finalizing.ts";

/** Finalizations that are recorded at once. An import waits meanwhile: each takes some 20 us. */
const MAX_RECORDED = 500;
/** Layer-1 blocks without an event that are read before the mark is written again. A restart reads them again. */
const MARK_BLOCKS = 1_000;

export class Layer1Finality implements FinalityWork {
  private readonly pool: ProofPool;
  private readonly watch: RollupWatch;
  private readonly layer2: Nodes | undefined;
  private readonly contract: Uint8Array;
  private readonly status: FinalityStatus;
  private readonly log: Logger;
  /** How far layer 1 was read by this process. It may be ahead of the recorded mark by blocks without events. */
  private mark: Layer1Mark | undefined;

  /**
   * @param nodes - of layer 1; the caller closes them
   * @param layer2 - the nodes whose blocks are held, if they come from nodes; the caller closes them
   */
  constructor(
    pool: ProofPool,
    nodes: Nodes,
    layer2: Nodes | undefined,
    settings: RollupSettings,
    status: FinalityStatus,
    log: Logger,
  ) {
    this.pool = pool;
    this.watch = new RollupWatch(nodes, settings);
    this.layer2 = layer2;
    this.contract = settings.contract;
    this.status = status;
    this.log = log;
    this.mark = pool.chain.readLayer1Mark();
    this.status.layer1Read = this.mark?.block;
    this.status.known = pool.chain.lastFinalization()?.endBlock;
  }

  async step(signal: AbortSignal): Promise<"reading" | "following" | "waiting"> {
    this.requireContract();
    const step = await this.watch.read(this.mark, signal);
    this.status.answeredMs = Date.now();
    this.status.layer1Final = step.head;
    if ("awaits" in step) {
      this.noteAwaited(step);
      return "waiting";
    }
    await this.record(step, signal);
    this.mark = step.mark;
    this.status.layer1Read = step.mark.block;
    return step.mark.block < step.head ? "reading" : "following";
  }

  private noteAwaited({awaits, head}: AwaitedStart): void {
    if (this.status.state === "waiting") return;
    this.log.info(
      {layer1Final: head, layer1From: awaits + 1},
      `events are read from layer-1 block ${awaits + 1} on (--l1-from); waiting until layer 1 is final up to block ${awaits}, now it is up to block ${head}`,
    );
  }

  /** @throws Contradiction */
  private requireContract(): void {
    const recorded = this.mark?.contract;
    if (recorded === undefined || Buffer.compare(recorded, this.contract) === 0) return;
    throw new Contradiction(
      `the finalizations recorded in this store are those of contract ${toHex(recorded)}, not of --rollup ${toHex(this.contract)}`,
    );
  }

  private async record({events, after, mark}: RollupStep, signal: AbortSignal): Promise<void> {
    const fresh = events.filter(event => this.isNew(event));
    const last = fresh.at(-1);
    if (last !== undefined) this.status.known = last.endBlock;
    let done = 0;
    while (done < fresh.length) {
      const next = fresh.slice(done, done + this.countFinalizable(fresh, done));
      if (next.length === 0) await this.untilFinalizable((fresh[done] as FinalityEvent).endBlock, signal);
      else {
        const isWhole = done + next.length === fresh.length;
        await this.recordHeld(next, after, isWhole ? mark : after, signal);
        done += next.length;
      }
    }
    const recorded = this.pool.chain.readLayer1Mark()?.block;
    if (recorded === undefined || mark.block - recorded >= MARK_BLOCKS)
      await this.pool.recordFinality({events: [], mark});
  }

  private async recordHeld(
    events: readonly FinalityEvent[],
    after: Layer1Mark,
    mark: Layer1Mark,
    signal: AbortSignal,
  ): Promise<void> {
    const last = events.at(-1) as FinalityEvent;
    // The blocks that end the others are its ancestors.
    const named = [...events.slice(0, -1), await this.nameBlock(last, signal)];
    try {
      const {finalized} = await this.pool.recordFinality({events: named, mark});
      const {layer1Block, transactionHash} = last;
      const fields = {
        finalized,
        finalizations: events.length,
        layer1Block,
        transaction: toHex(transactionHash),
      };
      this.log.info(fields, "finalized on layer 1");
    } catch (error) {
      const isConflict = error instanceof StoreError && error.code === "FINALITY_CONFLICT";
      if (!isConflict || events.length === 1) throw error;
      // One of several is wrong. Those before it are right.
      for (const event of events) await this.recordHeld([event], after, after, signal);
    }
  }

  /** Adds the hash that the layer-2 node has for the last block. Waits for a node that has the block. */
  private async nameBlock(event: FinalityEvent, signal: AbortSignal): Promise<FinalityEvent> {
    const {layer2} = this;
    const {endBlock} = event;
    if (layer2 === undefined) return event;
    const {hash} = await layer2.use(node => readNamedBlock(node, endBlock), signal);
    return {...event, endHash: hash};
  }

  /** Was the event recorded before? @throws Contradiction if something else was recorded in its place */
  private isNew(event: FinalityEvent): boolean {
    const {chain} = this.pool;
    const last = chain.lastFinalization();
    if (last === undefined || isAfter(event, last)) return true;
    const [recorded] = chain.listFinalizations(event.endBlock, 1);
    if (recorded !== undefined && isSame(event, recorded)) return false;
    throw new Contradiction(
      `layer 1 has a finalization up to block ${event.endBlock} with state root ${toHex(event.finalRoot)} in its block ${event.layer1Block}; recorded is one up to block ${recorded?.endBlock} with ${recorded === undefined ? "none" : toHex(recorded.finalRoot)}`,
    );
  }

  /** Events from `from` on whose last block is held, and audited if its source is, at most MAX_RECORDED. */
  private countFinalizable(events: readonly FinalityEvent[], from: number): number {
    const highest = finalizable(this.pool.chain.head());
    let count = 0;
    while (count < MAX_RECORDED && (events[from + count]?.endBlock ?? Infinity) <= highest) count++;
    return count;
  }

  /** Waits until `block` is held, and audited if its source is. @throws the signal's reason */
  private async untilFinalizable(block: number, signal: AbortSignal): Promise<void> {
    const {chain} = this.pool;
    this.status.state = "waiting";
    this.status.reason = "";
    const {latest} = chain.head();
    const awaited =
      block <= (latest ?? -1)
        ? "a finalized block is not audited yet; waiting for its audit"
        : "a finalized block is not held yet; waiting for it";
    this.log.info({block, latest}, awaited);
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        unwatch();
        signal.removeEventListener("abort", end);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      const unwatch = chain.onChange(head => {
        if (finalizable(head) >= block) end();
      });
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
    });
  }
}

function isAfter(event: Finalization, last: Finalization): boolean {
  if (event.layer1Block !== last.layer1Block) return event.layer1Block > last.layer1Block;
  return event.logIndex > last.logIndex;
}

function isSame(event: Finalization, recorded: Finalization): boolean {
  return (
    event.endBlock === recorded.endBlock &&
    event.layer1Block === recorded.layer1Block &&
    Buffer.compare(event.transactionHash, recorded.transactionHash) === 0 &&
    Buffer.compare(event.finalRoot, recorded.finalRoot) === 0
  );
}
