/**
 * The blocks of a feed as the steps of a source.
 *
 *   stream   .. 41  42  43  rollback to 42  43'  44' ..
 *   held     .. 41  42  43                               the newest block held is found in the stream; from there on every message is obeyed
 *
 * Until then messages are only compared: blocks that are held are passed over, and rollbacks are older than what is held.
 */

import {decodeDifference} from "../../../nodes/feed/differenceBytes.ts";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {
  BlockPart,
  FeedMessage,
  FinalityMessage,
  RollbackMessage,
} from "../../../nodes/feed/feedMessage.ts";
import {decodeLayer1, type FedFinality} from "../../../nodes/feed/finalityBytes.ts";
import type {FinalityStep} from "../../../storage/commit/finalityStep.ts";
import {isSame, toHex} from "../../../storage/hex.ts";
import type {SourceHost} from "../sourceHost.ts";
import type {SourceStep} from "../sourceStep.ts";
import {BlockAssembly} from "./blockAssembly.ts";

const ORIGIN = "the feed";
const NO_BLOCK = -1;

export class FeedBlocks {
  private readonly assembly = new BlockAssembly();
  /** Has the newest block held been seen in the stream? An empty store needs no such block. */
  private isAligned: boolean;
  /** The highest block that the stream has as it is held here, as far as it was read. */
  private common = NO_BLOCK;

  constructor(private readonly host: SourceHost) {
    this.isAligned = this.latest === NO_BLOCK;
  }

  private get latest(): number {
    return this.host.writer().latest ?? NO_BLOCK;
  }

  /**
   * @returns what the message asks for, if it does. It must be done before the next message is taken
   * @throws FeedError if the message contradicts what is held, or one before it is missing
   */
  take(message: FeedMessage): SourceStep | undefined {
    if (message.kind === "block") return this.takePart(message);
    return message.kind === "rollback" ? this.takeRollback(message) : this.takeFinality(message);
  }

  /**
   * Call it at the stream's end, whose last block is `last`.
   *
   * @returns the newest block that the stream has too, if it is on another branch than the newest one held. That one was removed, or
   *   never published
   * @throws FeedError if the stream has none of the blocks held
   */
  findAncestor(last: number): number | undefined {
    const {latest, common} = this;
    // `last < latest`: published later than it came here by another way, such as a snapshot.
    if (this.isAligned || last < latest) return undefined;
    if (common === NO_BLOCK)
      throw new FeedError(
        `the stream has no block that is held here up to block ${latest}: start from a snapshot of its publisher`,
      );
    return common;
  }

  private takePart(part: BlockPart): SourceStep | undefined {
    const {number, hash, parentHash, stateRoot, isVerified} = part;
    const {latest} = this;
    if (number <= latest) {
      this.assembly.drop();
      this.compare(number, hash);
      return undefined;
    }
    const isNext =
      number === latest + 1 && (latest === NO_BLOCK || isSame(this.heldHash(latest), parentHash));
    if (!isNext && !this.isAligned && this.common !== NO_BLOCK) return undefined;
    if (number !== latest + 1)
      throw new FeedError(
        latest === NO_BLOCK
          ? `the stream begins with block ${number}, and this store is empty: start from a snapshot`
          : `the stream goes on with block ${number}, but block ${latest} is the newest one held: start from a newer snapshot`,
      );
    if (!isNext)
      throw new FeedError(
        `block ${number} of the feed follows block ${toHex(parentHash)}, but ${toHex(this.heldHash(latest) ?? hash)} is held`,
      );
    this.isAligned = true;
    const unpacked = this.assembly.take(part);
    if (unpacked === undefined) return undefined;
    return {
      kind: "block",
      number,
      hash: Uint8Array.from(hash),
      parentHash,
      origin: ORIGIN,
      // The publisher compared the header's root, or says that it did not. Here the root of the trees is compared.
      isExecuted: true,
      unverified: isVerified ? undefined : "its publisher could not verify it",
      difference: async () => decodeDifference({number, hash, stateRoot}, unpacked),
    };
  }

  private compare(number: number, hash: Uint8Array): void {
    if (!isSame(this.heldHash(number), hash)) {
      if (!this.isAligned) return;
      throw new FeedError(
        `the feed has block ${number} as ${toHex(hash)}, but another one is held, and no rollback came before`,
      );
    }
    this.common = Math.max(this.common, number);
    if (number === this.latest) this.isAligned = true;
  }

  private takeRollback({number, hash}: RollbackMessage): SourceStep | undefined {
    this.assembly.drop();
    if (!this.isAligned) return undefined;
    if (number > this.latest)
      throw new FeedError(`the feed goes back to block ${number}, but ${this.latest} is the newest one held`);
    this.compare(number, hash);
    return {kind: "rollback", to: number};
  }

  private takeFinality({number, hash, layer1}: FinalityMessage): SourceStep | undefined {
    const finality = decodeLayer1(layer1);
    // Of a block that is still to come, or on a branch that was left: what comes later says more.
    if (number > this.latest || !isSame(this.heldHash(number), hash)) return undefined;
    return {kind: "finalized", block: number, hash, layer1: finality && this.findNews(finality)};
  }

  /** @returns the finalizations that are not recorded here yet; undefined: there are none */
  private findNews({first, record, finalizations}: FedFinality): FinalityStep | undefined {
    const recorded = this.host.reader.finalizations;
    const count = recorded.count();
    if (record.count <= count) return undefined;
    if (first > count)
      throw new FeedError(
        `the feed goes on with finalization ${first}, but ${count} are recorded here: start from a newer snapshot`,
      );
    let before = recorded.last();
    const events = finalizations.slice(count - first).map(one => {
      const parentRoot = before?.finalRoot ?? one.finalRoot;
      before = one;
      return {...one, parentRoot};
    });
    return {events, mark: record.mark, root: record.root ?? "none", from: record.from};
  }

  private heldHash(block: number): Uint8Array | undefined {
    return this.host.writer().blockHash(block);
  }
}
