/**
 * The blocks of a stream that a store lacks: the stream's last block, its parent, and so on back to a stored block.
 *
 *   stream   .. 41  42  43  42'  43'  44'  42  43  44          the last block is 44, so the chain is 41 42 43 44
 *   stored   .. 41  42' 43'                                    the path: 42, 43 and 44, after the common block 41
 *
 * A parent comes before its child in the stream, so one backward scan finds them all. It reads only heads, in batches.
 */
import {isSame} from "../../storage/hex.ts";
import {type BlockHead, type FinalityHead, isGap} from "./feedMessage.ts";
import type {FeedStream, Sequenced, StreamTip} from "./feedStream.ts";
import {NatsAway} from "./natsConnection.ts";

export interface StoredChain {
  /** -1: no block. */
  readonly latest: number;
  readonly finalized: number;
  /** Recorded finalizations of layer 1. */
  readonly finalizations: number;
  /** undefined: not stored, nor known as the parent of the first block. */
  hashOf(block: number): Uint8Array | undefined;
}

/** What is finalized matters only for a tip with finality. */
type ComparedChain = Pick<StoredChain, "latest" | "hashOf"> & Partial<StoredChain>;

interface PathBlock {
  readonly hash: Uint8Array;
  readonly first: number;
  readonly last: number;
}

interface FeedPath {
  /** Everything that the store lacks is in this message or later ones. */
  readonly from: number;
  /** The last message scanned. */
  readonly until: number;
  /** What the store lacks, in the order of the chain. */
  readonly blocks: readonly PathBlock[];
  /** The last block of the stream. */
  readonly newest: BlockHead | undefined;
  /** The newest common block; -1: none, and the chain begins with block 0. */
  readonly common: number | undefined;
  /** Why the stream does not continue the store's chain. undefined: it does, or has no block. */
  readonly lack: string | undefined;
  /** With a lack: a store that has this block of the chain can follow the stream. -1: none. */
  readonly start: number;
}

const FIRST_HEADS = 64;
/** 2 MB of them. */
const MOST_HEADS = 8192;

/** @throws NatsAway; the signal's reason */
export async function findPath(
  stream: Pick<FeedStream, "readHeads">,
  {firstSequence, lastSequence, block, finality}: StreamTip,
  stored: ComparedChain,
  signal: AbortSignal,
): Promise<FeedPath> {
  const first = Math.max(1, firstSequence);
  const search = new PathSearch(stored, finality !== undefined && isNews(finality.head, stored));
  let count = FIRST_HEADS;
  for (let end = lastSequence; end >= first && !search.isDone; ) {
    const from = Math.max(first, end - count + 1);
    const heads = await stream.readHeads(from, end, signal);
    // Any server of the stream may answer, also one that lags.
    const known = Math.max(block?.sequence ?? 0, finality?.sequence ?? 0);
    if (end === lastSequence && (heads.at(-1)?.sequence ?? 0) < known)
      throw new NatsAway(`NATS: the server that answers has no message ${known} yet`);
    while (heads.length > 0 && !search.isDone) search.look(heads.pop() as Sequenced);
    end = from - 1;
    count = Math.min(2 * count, MOST_HEADS);
  }
  return search.end(lastSequence);
}

function isNews({number, count}: FinalityHead, {finalized = -1, finalizations = 0}: ComparedChain): boolean {
  return number > finalized || count > finalizations;
}

/** Scans heads, newest first. */
class PathSearch {
  private readonly blocks: PathBlock[] = [];
  private newest: BlockHead | undefined;
  private oldest: BlockHead | undefined;
  private common: number | undefined;
  /** `oldest` is a gap that is not stored. */
  private hasGap = false;
  /** The block whose parts are being scanned, the last part first. */
  private open: {readonly hash: Uint8Array; readonly last: number; part: number} | undefined;
  /** The first message with finality that is not recorded yet. */
  private finality: number | undefined;

  constructor(
    private readonly stored: ComparedChain,
    private needsFinality: boolean,
  ) {}

  get isDone(): boolean {
    return this.hasGap || (this.common !== undefined && !this.needsFinality);
  }

  look({sequence, head}: Sequenced): void {
    if (head.kind === "block") {
      if (this.common === undefined) this.lookAt(head, sequence);
      return;
    }
    if (!this.needsFinality) return;
    if (isNews(head, this.stored)) this.finality = sequence;
    this.needsFinality = head.first > (this.stored.finalizations ?? 0);
  }

  private lookAt(head: BlockHead, sequence: number): void {
    const {number, hash, parentHash, part, parts} = head;
    if (this.open !== undefined && part === this.open.part - 1 && isSame(this.open.hash, hash))
      this.open.part = part;
    else {
      this.open = undefined;
      const isWanted = this.oldest === undefined || isSame(this.oldest.parentHash, hash);
      if (part === parts - 1 && isWanted) this.open = {hash, last: sequence, part};
    }
    if (this.open?.part !== 0) return;
    const {last} = this.open;
    this.open = undefined;
    this.newest ??= head;
    if (isSame(this.stored.hashOf(number), hash)) {
      this.common = number;
      return;
    }
    this.oldest = head;
    this.hasGap = isGap(head);
    if (this.hasGap) return;
    this.blocks.push({hash, first: sequence, last});
    if (number === 0 ? this.stored.latest < 0 : isSame(this.stored.hashOf(number - 1), parentHash))
      this.common = number - 1;
  }

  end(until: number): FeedPath {
    const {blocks, newest, oldest, finality, hasGap} = this;
    blocks.reverse();
    const from = Math.min(blocks[0]?.first ?? until + 1, finality ?? until + 1);
    const isWhole = this.common !== undefined && !this.needsFinality;
    const lack = newest !== undefined && !isWhole ? this.describeLack() : undefined;
    const start = lack === undefined || oldest === undefined ? -1 : oldest.number - (hasGap ? 0 : 1);
    return {from, until, blocks, newest, common: this.common, lack, start};
  }

  private describeLack(): string {
    const {stored, oldest} = this;
    if (this.common !== undefined || oldest === undefined)
      return `the stream has not all finalizations after the ${stored.finalizations} that are recorded here: a newer snapshot is needed`;
    const end =
      stored.latest < 0 ? "this store is empty" : `block ${stored.latest} is the newest one in the store`;
    if (this.hasGap)
      return `the stream does not have what block ${oldest.number} changed, and ${end}: a snapshot of that block or a later one is needed`;
    if (stored.latest < 0)
      return `the stream begins with block ${oldest.number}, and ${end}: a snapshot is needed`;
    return `the stream continues with block ${oldest.number}, but its parent is not in the store, and ${end}: a newer snapshot is needed`;
  }
}

/** @returns tells scanned messages with blocks that the store does not need. Call it with rising numbers */
export function skipsOf({blocks, until}: FeedPath): (sequence: number, isBlock: boolean) => boolean {
  let at = 0;
  return (sequence, isBlock) => {
    if (sequence > until || !isBlock) return false;
    while ((blocks[at]?.last ?? sequence) < sequence) at++;
    return sequence < (blocks[at]?.first ?? Number.POSITIVE_INFINITY);
  };
}
