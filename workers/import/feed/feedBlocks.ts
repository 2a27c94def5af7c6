/**
 * The blocks of a feed as the steps of a source.
 *
 *   stream   .. 41  42  43  42'  43' ..
 *   stored   .. 41  42  43             the parent of 42' is 41, below the newest block: back to 41, then 42'
 */
import type {SourceStep} from "../../../nodes/blocks/sourceStep.ts";
import {mostPackedBytes, unpackChanges} from "../../../nodes/feed/blockChanges.ts";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import {type BlockHead, type FinalityHead, isGap} from "../../../nodes/feed/feedMessage.ts";
import type {StoredChain} from "../../../nodes/feed/feedPath.ts";
import type {FeedMessage} from "../../../nodes/feed/feedStream.ts";
import {decodeLayer1, type FedFinality} from "../../../nodes/feed/finalityBytes.ts";
import type {FinalityStep} from "../../../storage/commit/finalityStep.ts";
import {isSame} from "../../../storage/hex.ts";
import type {SourceHost} from "../sourceHost.ts";

const ORIGIN = "the feed";
const NO_BLOCK = -1;

/** A block's parent is not stored, or its changes are missing. The stream may have them. */
export class Detached extends Error {}

/** The import's chain. */
export function readStored({writer, reader}: SourceHost): StoredChain {
  const {latest = NO_BLOCK, finalizedTo: finalized} = writer;
  return {
    latest,
    finalized,
    finalizations: reader.finalizations.count(),
    hashOf: block => (block > latest ? undefined : writer.blockHash(block)),
  };
}

export class FeedBlocks {
  private readonly assembly = new BlockAssembly();

  constructor(private readonly host: SourceHost) {}

  /**
   * @param isOld - it was in the stream when it was scanned. Wrong finality is skipped then
   * @returns what to do before the next message
   * @throws FeedError if the message contradicts the store; Detached
   */
  take({head, body}: FeedMessage, isOld: boolean): readonly SourceStep[] {
    if (head.kind === "block") return this.takePart(head, body);
    try {
      const step = this.takeFinality(head, body);
      return step === undefined ? [] : [step];
    } catch (error) {
      if (isOld && error instanceof FeedError) return [];
      throw error;
    }
  }

  private takePart(part: BlockHead, piece: Buffer): readonly SourceStep[] {
    const {number, hash, parentHash, isVerified} = part;
    const {latest, finalized, hashOf} = readStored(this.host);
    if (isSame(hashOf(number), hash)) {
      this.assembly.drop();
      return [];
    }
    const parent = number - 1;
    if (isGap(part)) throw new Detached();
    if (number === 0 ? latest !== NO_BLOCK : !isSame(hashOf(parent), parentHash)) throw new Detached();
    if (parent < Math.min(finalized, latest))
      throw new FeedError(
        `the feed continues with another block ${number} after block ${parent}, but blocks up to ${Math.min(finalized, latest)} are finalized here`,
      );
    const packed = this.assembly.take(part, piece);
    if (packed === undefined) return [];
    const block: SourceStep = {
      kind: "block",
      number,
      hash: Uint8Array.from(hash),
      parentHash,
      origin: ORIGIN,
      unverified: isVerified ? undefined : "its publisher could not verify it",
      difference: async () => unpackChanges(part, part.unpackedBytes, packed),
    };
    return parent < latest ? [{kind: "rollback", to: parent}, block] : [block];
  }

  private takeFinality({number, hash}: FinalityHead, body: Buffer): SourceStep | undefined {
    // The block is still to come, or on an abandoned branch: later messages tell more.
    if (!isSame(readStored(this.host).hashOf(number), hash)) return undefined;
    const finality = decodeLayer1(body);
    return {kind: "finalized", block: number, hash, layer1: finality && this.findNews(finality)};
  }

  /** @returns the finalizations that are not recorded yet; undefined: there are none */
  private findNews({first, record, finalizations}: FedFinality): FinalityStep | undefined {
    const recorded = this.host.reader.finalizations;
    const count = recorded.count();
    if (record.count <= count) return undefined;
    if (first > count)
      throw new FeedError(
        `the feed continues with finalization ${first}, but ${count} are recorded here: a newer snapshot is needed`,
      );
    // The publisher has compared their parents. Everything else is compared again.
    const events = finalizations.slice(count - first).map(one => ({...one, parent: undefined}));
    return {events, mark: record.mark, root: record.root ?? "none", from: record.from};
  }
}

/** Puts the parts of a block together. */
export class BlockAssembly {
  private first: BlockHead | undefined;
  private pieces: Buffer[] = [];
  private bytes = 0;

  /**
   * Parts before the first part 0 are skipped. @returns the block's compressed changes, with its last part
   *
   * @throws FeedError if a part is missing, or the parts are too long
   */
  take(part: BlockHead, piece: Buffer): Buffer | undefined {
    if (part.part === 0) {
      this.drop();
      this.first = part;
    }
    const {first} = this;
    if (first === undefined) return undefined;
    const isNext = part.part === this.pieces.length && part.parts === first.parts;
    if (!isNext || Buffer.compare(part.hash, first.hash) !== 0)
      throw new FeedError(
        `block ${first.number}: expected part ${this.pieces.length} of ${first.parts}, got part ${part.part} of ${part.parts} of block ${part.number}`,
      );
    this.bytes += piece.length;
    const most = mostPackedBytes(first.number, first.unpackedBytes);
    if (this.bytes > most || piece.length === 0)
      throw new FeedError(
        `block ${first.number}: expected parts of 1 byte or more, of ${most} bytes at most in all, got ${this.bytes}`,
      );
    // A view would keep the message's memory.
    this.pieces.push(part.parts === 1 ? piece : Buffer.from(piece));
    if (this.pieces.length < part.parts) return undefined;
    const packed = part.parts === 1 ? piece : Buffer.concat(this.pieces);
    this.drop();
    return packed;
  }

  drop(): void {
    this.first = undefined;
    this.pieces = [];
    this.bytes = 0;
  }
}
