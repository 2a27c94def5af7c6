/**
 * Publishes the blocks held here into a stream, one after the other, and what is finalized.
 *
 *   stream   .. 41  42  43        its last message decides what comes next, so nothing is kept here
 *   held     .. 41  42  43  44    44 is published
 *   held     .. 41  42  43' 44'   43 is another one here. If this service put it there, or nobody has published for a while: a rollback
 *                                 to 42, then 43'. Else another service follows another branch, and this one waits
 *
 * Every message names the number of the one before it, so of two services that publish at the same time one is refused, looks at the
 * stream again, and goes on from there.
 */

import {FeedError} from "../../../nodes/feed/feedError.ts";
import {
  type BlockHead,
  encodeFinality,
  encodeRollback,
  type FeedChain,
  type FeedMessage,
} from "../../../nodes/feed/feedMessage.ts";
import {type FeedStream, type Sequenced, StreamMoved} from "../../../nodes/feed/feedStream.ts";
import {decodeLayer1, encodeLayer1, MAX_FINALIZATIONS} from "../../../nodes/feed/finalityBytes.ts";
import type {Finalization} from "../../../storage/block/finalization.ts";
import {isSame} from "../../../storage/hex.ts";
import type {Engine} from "../../../workers/engine.ts";

/** An empty stream begins so many blocks below the newest one. Older replicas start from a snapshot. */
const FIRST_BLOCKS = 10_000;
/** How far back a common block is looked for. */
const MAX_LOOKS = 8192;
/** A stream that another service left on another branch is taken over after this time without a message. */
const TAKEOVER_MS = 60_000;

/** Where the stream stands, as this service sees it. */
export type PublishState =
  | {readonly kind: "published"; readonly block: number}
  /** The stream has blocks that are not held here yet. */
  | {readonly kind: "behind"; readonly block: number}
  /** Nothing can be published, for this reason. */
  | {readonly kind: "refused"; readonly reason: string};

interface Tip {
  readonly sequence: number;
  readonly message: FeedMessage | undefined;
}

export class Publisher {
  /** The stream's last message as far as it is known. undefined: to be read. */
  private tip: Tip | undefined;
  private finality: {readonly sequence: number; readonly number: number; readonly count: number} | undefined;
  /** The last message that was in line with the chain held here. */
  private agreed = -1;
  private conflict: {readonly sequence: number; readonly sinceMs: number} | undefined;

  constructor(
    private readonly stream: FeedStream,
    private readonly chain: FeedChain,
    private readonly engine: Engine,
  ) {}

  /**
   * Publishes what is to be published now.
   *
   * @returns where the stream stands then
   * @throws FeedError, what NATS throws
   */
  async catchUp(signal: AbortSignal): Promise<PublishState> {
    for (;;) {
      signal.throwIfAborted();
      try {
        const state = await this.step();
        if (state !== undefined) return state;
      } catch (error) {
        this.tip = undefined;
        this.finality = undefined;
        if (!(error instanceof StreamMoved)) throw error;
      }
    }
  }

  /** @returns undefined if there is more to do */
  private async step(): Promise<PublishState | undefined> {
    this.tip ??= await this.readTip();
    const {latest, earliest = 0} = this.engine.chain.head();
    if (latest === undefined) return {kind: "published", block: -1};
    const {message} = this.tip;
    if (message === undefined)
      return this.publish(Math.max(earliest === 0 ? 0 : earliest + 1, latest - FIRST_BLOCKS));
    const isPart = message.kind === "block" && message.part < message.parts - 1;
    const last = isPart
      ? {number: message.number - 1, hash: message.parentHash}
      : {number: message.number, hash: message.hash};
    // If it was published from here, blocks were removed here since.
    if (last.number > latest && this.tip.sequence !== this.agreed)
      return {kind: "behind", block: last.number};
    if (last.number >= 0 && !isSame(this.hashOf(last.number), last.hash)) return this.leaveBranch(this.tip);
    this.agreed = this.tip.sequence;
    this.conflict = undefined;
    if (last.number < latest) return this.publish(last.number + 1);
    if (await this.publishFinality(last.number)) return undefined;
    return {kind: "published", block: latest};
  }

  private async readTip(): Promise<Tip> {
    return (await this.stream.lastBlock()) ?? {sequence: 0, message: undefined};
  }

  private async publish(block: number): Promise<PublishState | undefined> {
    const answer = await this.engine.encodeFeedBlock({chain: this.chain, block});
    if ("refusal" in answer) throw new FeedError(answer.refusal);
    if ("failure" in answer) {
      // Removed meanwhile: the next look finds what is there now.
      if (answer.failure.failure === "BLOCK_UNKNOWN") return undefined;
      throw new FeedError(`block ${block} cannot be published: ${answer.failure.detail}`);
    }
    const {head, bodies} = answer;
    for (const [part, body] of bodies.entries()) {
      const name = `block.${Buffer.from(head.hash).toString("hex")}.${part}`;
      const sequence = await this.stream.publish("blocks", body, name, (this.tip as Tip).sequence);
      this.tip = {sequence, message: lastMessage(head, part, bodies.length)};
    }
    return undefined;
  }

  /**
   * Removes the stream's last blocks, which are not held here, if that is ours to do.
   *
   * @throws FeedError if a block that the stream calls finalized would have to go, or no block is in both
   */
  private async leaveBranch(tip: Tip): Promise<PublishState | undefined> {
    const {number} = tip.message as FeedMessage;
    const common = await this.findCommon(tip.sequence);
    const finalized = (await this.readFinality()).number;
    if (common < finalized)
      throw new FeedError(
        `the stream calls block ${finalized} finalized on another branch: it has only blocks up to ${common} of the chain held here`,
      );
    if (!this.mayLeave(tip, number)) {
      const reason = `the stream has another block ${number} than this service, and others publish: they follow another branch since block ${common}`;
      return {kind: "refused", reason};
    }
    const hash = this.hashOf(common);
    if (hash === undefined) return undefined;
    const body = encodeRollback(this.chain, common, hash);
    const name = `rollback.${Buffer.from(hash).toString("hex")}`;
    const sequence = await this.stream.publish("blocks", body, name, tip.sequence);
    this.tip = {sequence, message: {kind: "rollback", number: common, hash}};
    return undefined;
  }

  /** Was it this service that followed the branch, or has everyone who does been silent for long while the chain here went on? */
  private mayLeave({sequence}: Tip, number: number): boolean {
    if (sequence === this.agreed) return true;
    const now = performance.now();
    if (this.conflict?.sequence !== sequence) this.conflict = {sequence, sinceMs: now};
    return this.engine.chain.newest > number && now - this.conflict.sinceMs > TAKEOVER_MS;
  }

  /** @returns the highest block that is held here and in the stream below `sequence` */
  private async findCommon(sequence: number): Promise<number> {
    const {first} = await this.stream.readRange();
    for (let at = sequence - 1, looks = 0; at >= first && looks < MAX_LOOKS; at--, looks++) {
      const message = (await this.stream.blockAt(at))?.message;
      if (message?.kind !== "block" || message.part < message.parts - 1) continue;
      if (isSame(this.hashOf(message.number), message.hash)) return message.number;
    }
    throw new FeedError(
      "the stream has no block of the chain held here: it is of another chain, or too far behind",
    );
  }

  /** @returns whether there was something to say */
  private async publishFinality(tip: number): Promise<boolean> {
    const finality = await this.readFinality();
    const {finalizations} = this.engine.chain;
    const number = Math.min(this.engine.chain.head().finalized ?? -1, tip);
    const record = finalizations.readLayer1();
    const until = Math.min(record?.count ?? 0, finality.count + MAX_FINALIZATIONS);
    const ended: Finalization[] = [];
    for (let index = finality.count; index < until; index++) {
      const finalization = finalizations.read(index);
      if (finalization.endBlock > number) break;
      ended.push(finalization);
    }
    if (number <= finality.number && ended.length === 0) return false;
    const hash = this.hashOf(number);
    if (hash === undefined) return false;
    const count = finality.count + ended.length;
    const layer1 = record && {
      first: finality.count,
      record: {...record, count},
      finalizations: ended,
    };
    const body = encodeFinality(this.chain, number, hash, encodeLayer1(layer1));
    const name = `finality.${number}.${count}`;
    const sequence = await this.stream.publish("finality", body, name, finality.sequence);
    this.finality = {sequence, number, count};
    return true;
  }

  private async readFinality(): Promise<NonNullable<Publisher["finality"]>> {
    if (this.finality !== undefined) return this.finality;
    const last: Sequenced | undefined = await this.stream.lastFinality();
    const message = last?.message.kind === "finality" ? last.message : undefined;
    const count = message === undefined ? 0 : (decodeLayer1(message.layer1)?.record.count ?? 0);
    this.finality = {sequence: last?.sequence ?? 0, number: message?.number ?? -1, count};
    return this.finality;
  }

  private hashOf(block: number): Uint8Array | undefined {
    const found = this.engine.chain.readHeader(block);
    return "failure" in found ? undefined : found.hash;
  }
}

function lastMessage(head: BlockHead, part: number, parts: number): FeedMessage {
  return {kind: "block", ...head, part, parts, unpackedBytes: 0, piece: Buffer.alloc(0)};
}
