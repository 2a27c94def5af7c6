/**
 * Finality by the events of the rollup contract on layer 1. A finalization is recorded once its last block is stored,
 * in the order of layer 1, together with how far layer 1 was read: there a restart continues.
 *
 *   layer 1 -- read --> waiting for its last block -- record --> the store
 *
 * After an answer that does not fit what is recorded, layer 1 is read again from the last recorded finalization on,
 * from another node if there is one. Only what several answers say is a contradiction.
 */
import type {Logger} from "pino";
import type {RollupEvent} from "../../../nodes/finality/rollupEvents.ts";
import {type AwaitedStart, type RollupSettings, RollupWatch} from "../../../nodes/finality/rollupWatch.ts";
import {findNamedBlock} from "../../../nodes/rpc/namedBlock.ts";
import {Contradiction, type Node} from "../../../nodes/rpc/node.ts";
import type {Nodes} from "../../../nodes/rpc/nodes.ts";
import type {Finalization} from "../../../storage/block/finalization.ts";
import type {Layer1Mark, RootKind} from "../../../storage/block/layer1Mark.ts";
import {beginsAgain, type FinalityEvent} from "../../../storage/commit/finalityStep.ts";
import {StoreError} from "../../../storage/errors.ts";
import {toHex} from "../../../storage/hex.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {FinalityStatus} from "../../observe/finalityStatus.ts";
import type {FinalitySource} from "./finalizing.ts";

/** Finalizations of one write. An import waits meanwhile: each takes some 20 us. */
const MAX_RECORDED = 500;
/** Most finalizations in memory that wait for their blocks. */
const MAX_WAITING = 10_000;
/** Layer-1 blocks without an event after which the mark is written. A restart reads those since the mark again. */
const MARK_BLOCKS = 1_000;
/** How often layer 1 is read again before a conflict counts as a contradiction. */
const REREADS = 2;

export interface Layer1Settings extends RollupSettings {
  /** Which root the contract stores. "none": none that can be compared. undefined: determined by the first event. */
  readonly root: RootKind | "none" | undefined;
}

export class Layer1Finality implements FinalitySource {
  private readonly watch: RollupWatch;
  /** Read but not recorded, in the order of layer 1. */
  private waiting: RollupEvent[] = [];
  /** How far layer 1 was read; undefined: read from the last recorded finalization on. */
  private mark: Layer1Mark | undefined;
  /** All events up to it are recorded. */
  private recorded: Layer1Mark | undefined;
  /** The node of the last step. */
  private node: string | undefined;
  /** Consecutive answers that did not fit. */
  private misfits = 0;
  /** What waits can be recorded without asking layer 1 first. */
  private isDue = false;
  /** Why the next finalized block cannot be recorded although it is stored. */
  private obstacle: string | undefined;

  /** @param nodes - of layer 1. @param layer2 - where the stored blocks come from, unless from files */
  constructor(
    private readonly engine: Engine,
    private readonly nodes: Nodes,
    private readonly layer2: Nodes | undefined,
    private readonly settings: Layer1Settings,
    private readonly status: FinalityStatus,
    private readonly log: Logger,
  ) {
    const record = engine.chain.finalizations.readLayer1();
    const from = settings.from ?? record?.from;
    this.watch = new RollupWatch(nodes, {...settings, from});
    if (beginsAgain(record, settings.from))
      log.warn({layer1From: from}, `finality begins again at layer-1 block ${from} (--l1-from)`);
    else this.mark = record?.mark;
    this.recorded = this.mark;
    status.layer1Read = this.mark?.block;
    const last = engine.chain.finalizations.last();
    status.known = last?.endBlock;
    status.isByNumber = settings.root === "none" && last?.names !== "blockHash";
  }

  async step(signal: AbortSignal): Promise<"reading" | "following" | "waiting"> {
    this.requireContract();
    try {
      const state = await this.advance(signal);
      if (state !== "reading") this.misfits = 0;
      return state;
    } catch (error) {
      if (!(error instanceof Contradiction || isConflict(error))) throw error;
      this.mark = undefined;
      // They come again. If they stayed, they would be due at once, without a mark.
      this.waiting = [];
      this.misfits++;
      if (this.node !== undefined) this.nodes.putLast(this.node);
      if (this.misfits > REREADS) throw error;
      const isRecorded = this.engine.chain.finalizations.last() !== undefined;
      this.log.warn(
        {node: this.node, reason: error.message},
        isRecorded
          ? "layer 1 contradicts what is recorded; it is read again from the last recorded finalization on"
          : "layer 1 contradicts the store; it is read again from its beginning",
      );
      return "reading";
    }
  }

  /** Resolves once a waiting finalization can be recorded, or with the signal. */
  async untilDue(signal: AbortSignal): Promise<void> {
    const {chain} = this.engine;
    const lowest = this.waiting.reduce((least, {endBlock}) => Math.min(least, endBlock), Infinity);
    await new Promise<void>(resolve => {
      const look = (): void => {
        if (!signal.aborted && (this.obstacle !== undefined || chain.newest < lowest)) return;
        this.isDue = !signal.aborted;
        unwatch();
        signal.removeEventListener("abort", look);
        resolve();
      };
      const unwatch = chain.onChange(look);
      signal.addEventListener("abort", look);
      look();
    });
  }

  private async advance(signal: AbortSignal): Promise<"reading" | "following" | "waiting"> {
    if (!this.isDue && this.waiting.length < MAX_WAITING) {
      const awaited = await this.read(signal);
      if (awaited !== undefined) {
        this.noteAwaited(awaited);
        return "waiting";
      }
    }
    this.isDue = false;
    await this.record(signal);
    const [next] = this.waiting;
    if (next === undefined) await this.recordMark();
    const {layer1Read = 0, layer1Final = 0} = this.status;
    if (layer1Read < layer1Final && this.waiting.length < MAX_WAITING) return "reading";
    if (next === undefined) return "following";
    this.noteWaiting(next);
    return "waiting";
  }

  /** Reads the next range of layer 1. @returns undefined, or the layer-1 block to wait for */
  private async read(signal: AbortSignal): Promise<AwaitedStart | undefined> {
    const {status} = this;
    const last = this.lastRecorded();
    const step = await this.watch.read({mark: this.mark, last}, signal);
    status.answeredMs = Date.now();
    status.layer1Final = step.head;
    if ("awaits" in step) return step;
    // It was read again.
    if (step.after !== this.mark) {
      this.waiting = [];
      this.recorded = step.after;
    }
    // What was finalized before the scan was restarted is not recorded again.
    const told = last === undefined ? (this.engine.chain.finalizations.last()?.endBlock ?? -1) : -1;
    // Blocks before the first one cannot be compared or proved.
    const floor = Math.max(told, this.engine.store.reader.firstBlock - 1);
    this.waiting.push(...step.events.filter(({endBlock}) => endBlock > floor));
    this.node = step.node;
    this.mark = step.mark;
    status.layer1Read = step.mark.block;
    status.known = step.events.at(-1)?.endBlock ?? status.known;
    return undefined;
  }

  private async record(signal: AbortSignal): Promise<void> {
    const {chain} = this.engine;
    this.obstacle = undefined;
    for (;;) {
      const highest = chain.newest;
      const first = this.waiting.findIndex(({endBlock}) => endBlock <= highest);
      if (first < 0) return;
      let end = first;
      while (end - first < MAX_RECORDED && (this.waiting[end]?.endBlock ?? Infinity) <= highest) end++;
      const isComplete = end === this.waiting.length;
      const mark = (isComplete ? this.mark : this.recorded) as Layer1Mark;
      if (!(await this.recordStored(this.waiting.slice(first, end), mark, signal))) return;
      const {endBlock} = this.waiting[end - 1] as RollupEvent;
      for (const skipped of this.waiting.splice(0, end).slice(0, first))
        this.log.warn(
          {block: skipped.endBlock, layer1Block: skipped.layer1Block},
          `a finalization up to block ${skipped.endBlock} does not count: a later one ends at block ${endBlock}`,
        );
      if (isComplete) this.recorded = this.mark;
      this.misfits = 0;
    }
  }

  /** @returns false if the nodes of layer 2 do not say yet which last block they have */
  private async recordStored(
    events: readonly RollupEvent[],
    mark: Layer1Mark,
    signal: AbortSignal,
  ): Promise<boolean> {
    const {chain} = this.engine;
    const named = await this.nameLast(events, signal);
    if (named === undefined) return false;
    const {root, from} = this.settings;
    const before = chain.finalizations.readLayer1()?.root;
    const {names: namedBefore} = chain.finalizations.last() ?? {};
    try {
      const {finalized} = await this.engine.writes.recordFinality({events: named, mark, root, from});
      const {layer1Block, transactionHash} = named.at(-1) as FinalityEvent;
      const transaction = toHex(transactionHash);
      this.log.info(
        {finalized, finalizations: events.length, layer1Block, transaction},
        "finalized on layer 1",
      );
    } catch (error) {
      if (!isConflict(error) || events.length === 1) throw error;
      // One of them is wrong. Those before it are right.
      for (const event of events)
        if (!(await this.recordStored([event], this.recorded ?? mark, signal))) return false;
    }
    const found = chain.finalizations.readLayer1()?.root;
    if (found !== before)
      this.log.info({root: found}, `the contract holds the roots of --l1-root ${found}: each is compared`);
    const {names} = chain.finalizations.last() ?? {};
    this.status.isByNumber = root === "none" && names !== "blockHash";
    if (names === "blockHash" && namedBefore !== names)
      this.log.info("the contract holds block hashes now: each is compared");
    return true;
  }

  /**
   * Adds the hash that nodes of layer 2 have for the last block, unless its event names it; the last blocks of the
   * other events are its ancestors. Where roots are compared, one node must have the stored block. Otherwise every node
   * must answer, and none may have another block of this number.
   *
   * @returns undefined if the nodes do not say yet: `obstacle` has the reason
   */
  private async nameLast(
    events: readonly RollupEvent[],
    signal: AbortSignal,
  ): Promise<readonly FinalityEvent[] | undefined> {
    const last = events.at(-1) as RollupEvent;
    if (this.layer2 === undefined || last.names === "blockHash") return events;
    const isByNumber = this.settings.root === "none";
    const find = (node: Node) => findNamedBlock(node, last.endBlock);
    const {results, silent} = await this.layer2.useEach(find, signal);
    const hashes = results.filter(block => block !== undefined).map(({hash}) => hash);
    if (isByNumber ? silent.length > 0 : results.length === 0) {
      this.obstacle = `waiting until layer 2 tells which finalized block it has: ${silent.join("; ")}`;
      return undefined;
    }
    if (hashes.length === 0) {
      this.obstacle = "no node of layer 2 has a finalized block; waiting for one that has it";
      return undefined;
    }
    const stored = this.engine.chain.readHeader(last.endBlock);
    if ("failure" in stored) throw new Error(stored.detail);
    const others = hashes.filter(hash => Buffer.compare(hash, stored.hash) !== 0);
    const isAgreed = others.length === 0 || (!isByNumber && others.length < hashes.length);
    const endHash = isAgreed ? stored.hash : (others[0] as Uint8Array);
    return [...events.slice(0, -1), {...last, endHash}];
  }

  private async recordMark(): Promise<void> {
    const {mark} = this;
    const recorded = this.engine.chain.finalizations.readLayer1()?.mark.block;
    if (mark === undefined || (recorded !== undefined && mark.block - recorded < MARK_BLOCKS)) return;
    await this.engine.writes.recordFinality({events: [], mark, from: this.settings.from});
  }

  /** The finalization that the next one must continue. */
  private lastRecorded(): Finalization | undefined {
    const {chain} = this.engine;
    const record = chain.finalizations.readLayer1();
    if (record === undefined || record.count === record.begun) return undefined;
    return beginsAgain(record, this.settings.from) ? undefined : chain.finalizations.last();
  }

  private noteAwaited({awaits, head}: AwaitedStart): void {
    const what = `events are read from layer-1 block ${awaits + 1} on (--l1-from); waiting until layer 1 is final up to block ${awaits}`;
    if (!this.status.startWaitingFor(what)) return;
    this.log.info({layer1Final: head, layer1From: awaits + 1}, `${what}, now it is up to block ${head}`);
  }

  private noteWaiting({endBlock}: RollupEvent): void {
    const latest = this.engine.chain.newest;
    const what = this.obstacle ?? "a finalized block is not in the store yet; waiting for it";
    if (this.status.startWaitingFor(`block ${endBlock}: ${what}`))
      this.log.info({block: endBlock, latest}, what);
  }

  private requireContract(): void {
    const {contract, from} = this.settings;
    const record = this.engine.chain.finalizations.readLayer1();
    if (record === undefined || beginsAgain(record, from)) return;
    if (Buffer.compare(record.mark.contract, contract) === 0) return;
    throw new Contradiction(
      `the finalizations recorded in this store are those of contract ${toHex(record.mark.contract)}, not of --rollup ${toHex(contract)}. To begin again with this one, give --l1-from`,
    );
  }
}

function isConflict(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === "FINALITY_CONFLICT";
}
