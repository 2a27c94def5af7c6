/**
 * The blocks of a feed as the source of an import.
 *
 *   stream   .. 41  42  43  rollback to 42  43'  44' ..
 *   held     .. 41  42  43                               the newest block held is found in the stream; from there on every message is obeyed
 *
 * Until then messages are only compared: blocks that are held are passed over, and rollbacks are older than what is held.
 */

import {decodeDifference} from "../../../nodes/feed/differenceBytes.ts";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {BlockPart, FinalityMessage, RollbackMessage} from "../../../nodes/feed/feedMessage.ts";
import type {Sequenced} from "../../../nodes/feed/feedStream.ts";
import {decodeLayer1} from "../../../nodes/feed/finalityBytes.ts";
import type {FinalityStep} from "../../../storage/commit/finalityStep.ts";
import {toHex} from "../../../storage/hex.ts";
import type {SourceBlock} from "../sourceBlock.ts";
import type {SourceHost} from "../sourceHost.ts";
import {BlockAssembly} from "./blockAssembly.ts";

const ORIGIN = "the feed";
const NO_BLOCK = -1;

export class FeedBlocks {
  private readonly assembly = new BlockAssembly();
  /** Has the newest block held been seen in the stream? An empty store needs no such block. */
  private isAligned: boolean;
  /** The highest block that the stream has as it is held here, as far as it was read. */
  private common = NO_BLOCK;

  /** @param last - the last block of the stream when reading began */
  constructor(
    private readonly host: SourceHost,
    private readonly last: Sequenced | undefined,
    private readonly onCaughtUp: () => void,
  ) {
    this.isAligned = this.latest === NO_BLOCK;
  }

  private get latest(): number {
    return this.host.writer().latest ?? NO_BLOCK;
  }

  /** @throws FeedError if a message contradicts what is held, or is missing; StoreError FINALIZED, FINALITY_CONFLICT */
  async *read(messages: AsyncIterable<Sequenced>): AsyncGenerator<SourceBlock> {
    for await (const {sequence, message} of messages) {
      if (message.kind === "block") {
        const block = this.takePart(message);
        if (block !== undefined) yield block;
      } else if (message.kind === "rollback") await this.takeRollback(message);
      else await this.takeFinality(message);
      if (this.last === undefined || sequence < this.last.sequence) continue;
      if (!this.isAligned) await this.leaveBranch(this.last.message.number);
      this.onCaughtUp();
    }
  }

  private takePart(part: BlockPart): SourceBlock | undefined {
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
      number,
      hash: Uint8Array.from(hash),
      origin: ORIGIN,
      // The publisher compared the header's root, or says that it did not. Here the root of the trees is compared.
      isExecuted: true,
      unverified: isVerified ? undefined : "its publisher could not verify it",
      isOutdated: () => this.latest !== number - 1,
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

  private async takeRollback({number, hash}: RollbackMessage): Promise<void> {
    this.assembly.drop();
    if (!this.isAligned) return;
    if (number > this.latest)
      throw new FeedError(`the feed goes back to block ${number}, but ${this.latest} is the newest one held`);
    this.compare(number, hash);
    const {latest} = this;
    if (number === latest) return;
    await this.host.rollback(number);
    this.host.onEvent({kind: "reorganised", latest, ancestor: number});
  }

  /** The stream's end was reached, and it does not have the newest block held: that was removed, or never published. */
  private async leaveBranch(last: number): Promise<void> {
    const {latest, common} = this;
    // Published later than it came here by another way, such as a snapshot.
    if (last < latest) return;
    if (common === NO_BLOCK)
      throw new FeedError(
        `the stream has no block that is held here up to block ${latest}: start from a snapshot of its publisher`,
      );
    await this.host.rollback(common);
    this.host.onEvent({kind: "reorganised", latest, ancestor: common});
    throw new FeedError(
      `blocks ${common + 1} to ${latest} were removed, because the stream follows another branch; it is read again`,
    );
  }

  private async takeFinality({number, hash, layer1}: FinalityMessage): Promise<void> {
    const finality = decodeLayer1(layer1);
    // Of a block that is still to come, or on a branch that was left: what comes later says more.
    if (number > this.latest || !isSame(this.heldHash(number), hash)) return;
    const recorded = this.host.reader.finalizations;
    const count = recorded.count();
    if (finality !== undefined && finality.record.count > count) {
      const {first, record, finalizations} = finality;
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
      const step: FinalityStep = {
        events,
        mark: record.mark,
        root: record.root ?? "none",
        from: record.from,
      };
      await this.host.recordFinality(step);
    }
    await this.host.finalize(number, hash);
  }

  private heldHash(block: number): Uint8Array | undefined {
    return this.host.writer().blockHash(block);
  }
}

function isSame(held: Uint8Array | undefined, hash: Uint8Array): boolean {
  return held !== undefined && Buffer.compare(held, hash) === 0;
}
