/**
 * Fetches slots that a store of slices lacks from the head of the node that it follows (docs/slices.md).
 *
 *   calls lack slots -> their contract's fetch -> a proof at the node's head -> nodes are stored -> the calls run again
 *                            ^ one at a time: what is asked for meanwhile shares the next one
 *
 * The texts for callers name no node, and quote none.
 */
import type {Logger} from "pino";
import {parseNodeProof, proofCall} from "../../nodes/blocks/slice/nodeProof.ts";
import {Nodes, type NodesEvent, type NodesSettings} from "../../nodes/rpc/nodes.ts";
import type {ProvenSlots} from "../../storage/commit/provenSlots.ts";
import {fromHex} from "../../storage/hex.ts";
import type {SlotsMissing} from "../../workers/messages/failure.ts";

/** Contracts that are fetched from at the same time. */
const MAX_CONTRACTS = 16;
/** Of one fetch, as many as geth takes. */
const MAX_SLOTS = 1024;
/** So many count as one fetch in the budget: an answer of at most 1 MB, which takes the main thread some 5 ms. */
const SLOTS_PER_FETCH = 128;
const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 16 << 20;
const WARN_EVERY_MS = 10_000;

const DISABLED = "slots are not fetched from the node (--slice-fetches 0)";
const SPENT = "too many slots are fetched from the node (--slice-fetches); try again later";
const FAILED = "the node gave no proof of it in time; try again later";
const NOT_STORED = "its nodes were fetched, but not stored; try again later";
const OUTDATED =
  "the node's head no longer has its nodes, because a block that the store lacks has written it or a slot beside it";

/** RLP of nodes by slot; undefined: the node gave none. */
type Fetched = ReadonlyMap<string, readonly Uint8Array[]> | undefined;

interface Fetch {
  readonly slots: Set<string>;
  readonly fetched: Promise<Fetched>;
  isBegun: boolean;
}

export class SlotFetcher {
  /** `refused`: not made, because too many were. `failed`: no proofs came, or they could not be stored. */
  readonly counts = {answered: 0, refused: 0, failed: 0};
  private readonly nodes: Nodes;
  /** The last fetch of each contract, by address. */
  private readonly last = new Map<string, Fetch>();
  /** Fetches that the budget has left, below 0 after a large one. */
  private left: number;
  private earnedMs = performance.now();
  /** What each client took of the budget in the last second, so that none takes all of it. */
  private taken = new Map<string, number>();
  private takenMs = 0;
  /** Why a node is down, if one is. */
  private trouble = "";
  private nextWarnMs = 0;

  /** @param perSecond - fetches a second; 0: never. @param keep - stores the nodes that are missing at these blocks */
  constructor(
    settings: NodesSettings,
    private readonly perSecond: number,
    private readonly keep: (slots: readonly ProvenSlots[]) => Promise<unknown>,
    private readonly log: Logger,
  ) {
    const onEvent = ({name, state, reason}: NodesEvent): void => {
      this.trouble = state === "up" ? "" : `; ${name} is ${state}: ${reason}`;
    };
    const limits = {timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES};
    this.nodes = new Nodes({...settings, ...limits}, onEvent);
    this.left = perSecond;
  }

  /**
   * @param client - whose call it is. One client may take half of the budget
   * @returns why slots are still missing afterwards, if any are. Never rejects. No promise: nothing is fetched
   */
  fetch(missing: readonly SlotsMissing[], client: string): string | Promise<string> {
    if (this.perSecond === 0) return DISABLED;
    const fetches = new Map<string, Promise<Fetched>>();
    let reason = OUTDATED;
    for (const {address, slots} of missing.flatMap(({accounts}) => accounts)) {
      const fetched = this.join(address, slots, client);
      if (fetched !== undefined) fetches.set(address, fetched);
      else {
        this.counts.refused++;
        reason = SPENT;
      }
    }
    // What the others give is kept, so that another attempt needs less.
    return fetches.size === 0 ? reason : this.store(missing, fetches, reason);
  }

  /** Unfinished fetches fail. */
  async close(): Promise<void> {
    await this.nodes.close();
    await Promise.all([...this.last.values()].map(({fetched}) => fetched));
  }

  /** @returns undefined if the budget is spent, or the contract's next fetch has too many slots */
  private join(address: string, slots: readonly string[], client: string): Promise<Fetched> | undefined {
    const last = this.last.get(address);
    if (last !== undefined && slots.every(slot => last.slots.has(slot))) return last.fetched;
    const taken = this.takenBy(client);
    if (taken > 0 && taken >= this.perSecond / 2) return undefined;
    const fetch = last === undefined || last.isBegun ? this.create(address, last) : last;
    if (fetch === undefined || fetch.slots.size + slots.length > MAX_SLOTS) return undefined;
    this.taken.set(client, taken + Math.ceil(slots.length / SLOTS_PER_FETCH));
    for (const slot of slots) fetch.slots.add(slot);
    return fetch.fetched;
  }

  private takenBy(client: string): number {
    const nowMs = performance.now();
    if (nowMs - this.takenMs >= 1000) {
      this.taken.clear();
      this.takenMs = nowMs;
    }
    return this.taken.get(client) ?? 0;
  }

  /** @param before - the contract's fetch that has begun. @returns undefined if the budget is spent */
  private create(address: string, before: Fetch | undefined): Fetch | undefined {
    const nowMs = performance.now();
    this.left = Math.min(this.perSecond, this.left + ((nowMs - this.earnedMs) * this.perSecond) / 1000);
    this.earnedMs = nowMs;
    if (this.left < 1 || (before === undefined && this.last.size >= MAX_CONTRACTS)) return undefined;
    this.left--;
    const ready = before?.fetched ?? Promise.resolve();
    const fetched = ready.then(() => this.run(address, fetch));
    const fetch: Fetch = {slots: new Set(), fetched, isBegun: false};
    this.last.set(address, fetch);
    return fetch;
  }

  private async run(address: string, fetch: Fetch): Promise<Fetched> {
    fetch.isBegun = true;
    const slots = [...fetch.slots];
    this.left -= Math.ceil(slots.length / SLOTS_PER_FETCH) - 1;
    const {method, params} = proofCall(address, slots, "latest");
    try {
      const proof = await this.nodes.use(async node => {
        const answer = await node.request(method, params);
        return parseNodeProof(answer, slots.length, `${method} of ${address}`);
      }, AbortSignal.timeout(TIMEOUT_MS));
      this.counts.answered++;
      return new Map(slots.map((slot, i) => [slot, proof.slots[i] ?? []]));
    } catch (error) {
      this.noteFailure(error as Error);
      return undefined;
    } finally {
      if (this.last.get(address) === fetch) this.last.delete(address);
    }
  }

  /** @param otherwise - the reason, unless a fetch or the store fails */
  private async store(
    missing: readonly SlotsMissing[],
    fetches: ReadonlyMap<string, Promise<Fetched>>,
    otherwise: string,
  ): Promise<string> {
    const proofs = new Map<string, Fetched>();
    for (const [address, fetching] of fetches) proofs.set(address, await fetching);
    const proven = missing.map(({block, accounts}) => ({
      block,
      accounts: accounts.map(({address, slots}) => ({
        address: fromHex(address),
        slots: slots.map(slot => ({slot: fromHex(slot), proof: proofs.get(address)?.get(slot) ?? []})),
      })),
    }));
    try {
      const fetched = [...proofs.values()];
      if (fetched.some(proof => proof !== undefined)) await this.keep(proven);
      return fetched.includes(undefined) ? FAILED : otherwise;
    } catch (error) {
      this.noteFailure(error as Error);
      return NOT_STORED;
    }
  }

  private noteFailure({message}: Error): void {
    this.counts.failed++;
    const nowMs = performance.now();
    if (nowMs < this.nextWarnMs) return;
    this.nextWarnMs = nowMs + WARN_EVERY_MS;
    this.log.warn({reason: message + this.trouble}, "slots that the store lacks could not be fetched");
  }
}
