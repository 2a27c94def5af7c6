/**
 * Audits the blocks of a source that trusts its node: after some blocks, values that they touched are compared with the node's
 * own as of the newest of them. If one differs, the blocks since the audit before are removed again, as far as they are not
 * finalized.
 */

import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {HeldValues} from "../../../storage/block/heldValues.ts";
import {StoreError} from "../../../storage/errors.ts";
import {AuditFailure, auditRange} from "../../../sync/node/auditRange.ts";
import {TouchedSample} from "../../../sync/node/auditSample.ts";
import type {Node} from "../../../sync/rpc/node.ts";
import type {SourceHost} from "../sourceHost.ts";

/** While catching up. At the node's head there is an audit after each block. */
const BLOCKS_PER_AUDIT = 256;

export class RangeAudit {
  private readonly sample: TouchedSample;
  private readonly ask: <T>(work: (node: Node) => Promise<T>) => Promise<T>;
  private readonly host: SourceHost;
  private blocks = 0;
  /** The newest block that was there before, or passed an audit. */
  private sound: number;

  /**
   * @param count - accounts of an audit, and slots
   * @param ask - runs work with one node until it succeeds
   */
  constructor(count: number, ask: <T>(work: (node: Node) => Promise<T>) => Promise<T>, host: SourceHost) {
    this.sample = new TouchedSample(count);
    this.ask = ask;
    this.host = host;
    this.sound = host.writer().latest ?? 0;
  }

  get isDue(): boolean {
    return this.blocks >= BLOCKS_PER_AUDIT;
  }

  /** Called with each block before it is applied. */
  note(difference: BlockDifference): void {
    this.sample.note(difference);
    this.blocks++;
    // Another block may have had this number before a reorganisation.
    this.sound = Math.min(this.sound, difference.header.number - 1);
  }

  /**
   * Call it while the import waits for the next block.
   *
   * @throws AuditFailure naming block, account and both values; what `ask` throws
   */
  async run(): Promise<void> {
    const subjects = this.sample.take();
    this.blocks = 0;
    await this.host.flush();
    const {latest} = this.host.writer();
    if (latest === undefined) return;
    const held = new HeldValues(this.host.reader, latest);
    try {
      await auditRange(this.ask, held, subjects);
      if (this.isHeld(held)) this.sound = latest;
    } catch (error) {
      const isOfBlock = error instanceof AuditFailure || error instanceof StoreError;
      if (isOfBlock && !this.isHeld(held)) return;
      if (!(error instanceof AuditFailure) || !error.isWrong) throw error;
      const {latest: newest = latest} = this.host.writer();
      throw new AuditFailure(`${error.message}; ${await this.removeUnsound(newest)}`, true, {cause: error});
    }
  }

  /** False once an order has removed the block. What was read of it meanwhile says nothing. */
  private isHeld({block, blockHash}: HeldValues): boolean {
    const writer = this.host.writer();
    const hash = block > (writer.latest ?? -1) ? undefined : writer.blockHash(block);
    return hash !== undefined && Buffer.compare(hash, blockHash) === 0;
  }

  /** @returns what was done, as the end of a message */
  private async removeUnsound(latest: number): Promise<string> {
    const {finalizedTo} = this.host.writer();
    const to = Math.max(Math.min(this.sound, latest), finalizedTo, 0);
    if (to < latest) await this.host.rollback(to);
    if (finalizedTo > this.sound)
      return `blocks ${this.sound + 1} to ${to} are finalized and stay: do not trust this store, make it again`;
    return `blocks ${to + 1} to ${latest} were removed`;
  }
}
