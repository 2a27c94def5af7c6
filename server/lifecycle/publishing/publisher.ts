/**
 * Publishes the stored blocks into a stream, one after the other, and finality.
 *
 *   stream   .. 41  42  43          its last block and that one's ancestors are the chain that replicas follow
 *   store    .. 41  42  43  44      44 is published
 *   store    .. 41  42' 43' 44'     41 is in both: 42', 43' and 44' are published, and replicas go back to 41 for them
 *
 * A block whose changes were not kept is published, together with its ancestors, as a gap: one message that names the
 * block (feedMessage.ts). So the stream ends with the newest stored block, and a replica that cannot continue knows it
 * at once.
 *
 * Every message names the last message of the stream that the publisher saw. If two publish at the same time, one is
 * refused, reads the stream again, and decides again. A service publishes at once after a block of its own; after
 * another's block if its chain is higher, or the other has been silent for a while.
 */
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {BlockHead, FeedHead} from "../../../nodes/feed/feedMessage.ts";
import {findPath} from "../../../nodes/feed/feedPath.ts";
import {type FeedStream, StreamMoved, type StreamTip} from "../../../nodes/feed/feedStream.ts";
import {encodeLayer1, mostFinalizations} from "../../../nodes/feed/finalityBytes.ts";
import type {Finalization} from "../../../storage/block/finalization.ts";
import {KEPT_BLOCKS} from "../../../storage/block/keptChanges.ts";
import {isSame} from "../../../storage/hex.ts";
import type {ChainView} from "../../../workers/chain/chainView.ts";

/** After this silence another publisher may take over. If the silent one returns with its branch, the time doubles. */
const SILENCE_MS = 10_000;
const LONGEST_SILENCE_MS = 600_000;
/** Blocks that are read before the thread yields. */
const LOOKS_AT_ONCE = 64;
const NO_CHANGES = Buffer.alloc(0);

export type PublishState =
  | {
      readonly kind: "published";
      readonly block: number;
      /** The last gap published from here after other blocks; -1: none. Replicas need this block. */
      readonly gap: number;
    }
  /** The stream's last block is not stored here, or not yet. */
  | {readonly kind: "behind"; readonly block: number};

interface ChainEnd {
  readonly number: number;
  readonly hash: Uint8Array;
  /** The next block was begun but not completed. */
  readonly isCut: boolean;
}

export class Publisher {
  /** undefined: to be read. */
  private tip: StreamTip | undefined;
  /** The last message that was certainly sent from here. */
  private sent = -1;
  /** A message of this service may be unknown to it: sent before the start, or without acknowledgement. */
  private isUnsure = true;
  /** Since when the stream's last block has this sequence number. */
  private seen = {sequence: -1, sinceMs: 0};
  private silenceMs = SILENCE_MS;
  private gap = -1;

  constructor(
    private readonly id: Uint8Array,
    private readonly chain: ChainView,
    private readonly readMs: () => number = () => performance.now(),
  ) {}

  /** Whether the stream's last known block is from this service. */
  get isOwn(): boolean {
    const {block} = this.tip ?? {};
    return block !== undefined && isSame(this.id, block.head.publisher) && block.sequence <= this.sent;
  }

  private get isSilent(): boolean {
    return this.readMs() - this.seen.sinceMs >= this.silenceMs;
  }

  /** Reads the stream again at the next step: others may have published. */
  look(): void {
    this.tip = undefined;
  }

  /** Publishes what the stream lacks. @returns where the stream then stands. @throws FeedError, what NATS throws */
  async catchUp(stream: FeedStream, signal: AbortSignal): Promise<PublishState> {
    for (;;) {
      signal.throwIfAborted();
      try {
        const state = await this.step(stream, signal);
        if (state !== undefined) return state;
      } catch (error) {
        this.tip = undefined;
        if (!(error instanceof StreamMoved)) throw error;
      }
    }
  }

  /** @returns undefined if there is more to do */
  private async step(stream: FeedStream, signal: AbortSignal): Promise<PublishState | undefined> {
    this.tip ??= await this.readTip(stream);
    const {tip} = this;
    const {newest: latest} = this.chain;
    const end = endOf(tip.block?.head);
    const base = await this.findBase(stream, tip, end, latest, signal);
    if (base === undefined) return {kind: "behind", block: end?.number ?? -1};
    if (base < latest) {
      const next = await this.findKept(base + 1, latest);
      if (next === base + 1) return this.publish(stream, tip, next);
      // The other publisher may have kept them.
      if (end !== undefined && !this.isOwn && !this.isSilent) return {kind: "behind", block: end.number};
      if (end !== undefined) this.gap = next - 1;
      // The first block of slices is kept, and the store has none before it.
      return this.publish(stream, tip, this.chain.readKept(next - 1) === undefined ? next : next - 1);
    }
    if (await this.publishFinality(stream, tip, latest)) return undefined;
    return {kind: "published", block: latest, gap: this.gap};
  }

  private async readTip(stream: FeedStream): Promise<StreamTip> {
    const tip = await stream.readTip();
    const {sequence, head} = tip.block ?? {sequence: -1, head: undefined};
    if (this.isUnsure && head !== undefined && isSame(this.id, head.publisher)) this.sent = sequence;
    this.isUnsure = false;
    if (sequence !== this.seen.sequence) this.seen = {sequence, sinceMs: this.readMs()};
    return tip;
  }

  /** @returns the block to publish after; undefined: it may not. @throws FeedError if a finalized block differs */
  private async findBase(
    stream: FeedStream,
    tip: StreamTip,
    end: ChainEnd | undefined,
    latest: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const {block, finality} = tip;
    if (block === undefined || end === undefined) return -1;
    const {isOwn, isSilent} = this;
    const mayCut = isOwn || isSilent || !end.isCut;
    if (end.number < 0 || isSame(this.hashOf(end.number), end.hash)) {
      if (!isOwn) this.silenceMs = SILENCE_MS;
      return mayCut ? end.number : undefined;
    }
    const isMine = mayCut && (isOwn || isSilent || latest > end.number);
    if (!isMine) return undefined;
    const stored = {latest, hashOf: (n: number) => this.hashOf(n)};
    const {common, blocks} = await findPath(stream, {...tip, finality: undefined}, stored, signal);
    const floor = this.holds(finality) ? finality.head.number : -1;
    // For a block that was never in the stream, finality does not matter: no replica has it.
    if (finality !== undefined && floor < 0) {
      const {number, hash} = finality.head;
      const isOfStream = common === undefined || blocks.some(one => isSame(one.hash, hash));
      if (isOfStream && number > latest) return undefined;
      if (isOfStream)
        throw new FeedError(`the stream calls another block ${number} finalized than the one in the store`);
    }
    // The stream has dropped the common block, which replicas may still have. Or the last block is made up.
    if (common === undefined) return end.number > latest && !isSilent ? undefined : floor;
    if (common === latest) return undefined;
    if (!isOwn && latest <= end.number) this.silenceMs = Math.min(2 * this.silenceMs, LONGEST_SILENCE_MS);
    return Math.max(common, floor);
  }

  /** The first block from `from` on after which all changes up to `latest` are kept; `latest + 1` if none are. */
  private async findKept(from: number, latest: number): Promise<number> {
    const isKept = (block: number): boolean => this.chain.readKept(block)?.packed !== undefined;
    if (isKept(from)) return from;
    const first = Math.max(from + 1, latest - KEPT_BLOCKS + 1);
    for (let block = latest; block >= first; block--) {
      if (!isKept(block)) return block + 1;
      if (block % LOOKS_AT_ONCE === 0) await new Promise(resolve => setImmediate(resolve));
    }
    return first;
  }

  private async publish(stream: FeedStream, tip: StreamTip, block: number): Promise<undefined> {
    const found = this.chain.readKept(block);
    // It was removed meanwhile: the next step reads what is there.
    if (found === undefined) return;
    const {packed, ...fields} = found;
    const size = stream.bodyBytes;
    const [unpackedBytes, pieces] =
      packed === undefined ? [0, NO_CHANGES] : [packed.readUInt32BE(0), packed.subarray(4)];
    const parts = Math.max(1, Math.ceil(pieces.length / size));
    let {lastSequence} = tip;
    for (let part = 0; part < parts; part++) {
      const head: BlockHead = {kind: "block", publisher: this.id, ...fields, part, parts, unpackedBytes};
      lastSequence = await this.send(
        stream,
        head,
        pieces.subarray(part * size, (part + 1) * size),
        lastSequence,
      );
      this.sent = lastSequence;
      this.tip = {...tip, lastSequence, block: {sequence: lastSequence, head}};
    }
  }

  /** @returns whether anything was published */
  private async publishFinality(stream: FeedStream, tip: StreamTip, end: number): Promise<boolean> {
    const said = this.holds(tip.finality) ? tip.finality.head : {number: -1, count: 0};
    const {finalizations} = this.chain;
    const number = Math.min(this.chain.head().finalized ?? -1, end);
    const record = finalizations.readLayer1();
    const until = Math.min(record?.count ?? 0, said.count + mostFinalizations(stream.bodyBytes));
    const ended: Finalization[] = [];
    for (let index = said.count; index < until; index++) {
      const finalization = finalizations.read(index);
      if (finalization.endBlock > number) break;
      ended.push(finalization);
    }
    const hash = this.hashOf(number);
    if (hash === undefined || (number <= said.number && ended.length === 0)) return false;
    const [first, count] = [said.count, said.count + ended.length];
    const layer1 = record && {first, record: {...record, count}, finalizations: ended};
    const head = {kind: "finality", publisher: this.id, number, hash, first, count} as const;
    const lastSequence = await this.send(stream, head, encodeLayer1(layer1), tip.lastSequence);
    this.tip = {...tip, lastSequence, finality: {sequence: lastSequence, head}};
    return true;
  }

  private async send(stream: FeedStream, head: FeedHead, body: Uint8Array, after: number): Promise<number> {
    try {
      return await stream.publish(head, body, after);
    } catch (error) {
      // It may be in the stream, which is therefore read again.
      if (!(error instanceof StreamMoved)) this.isUnsure = true;
      throw error;
    }
  }

  private holds(finality: StreamTip["finality"]): finality is NonNullable<StreamTip["finality"]> {
    return finality !== undefined && isSame(this.hashOf(finality.head.number), finality.head.hash);
  }

  private hashOf(block: number): Uint8Array | undefined {
    return block < 0 ? undefined : this.chain.readHash(block);
  }
}

/** A block that was not completed does not count: its parent does. */
function endOf(head: BlockHead | undefined): ChainEnd | undefined {
  if (head === undefined) return undefined;
  const {number, hash, parentHash, part, parts} = head;
  if (part === parts - 1) return {number, hash, isCut: false};
  return {number: number - 1, hash: parentHash, isCut: true};
}
