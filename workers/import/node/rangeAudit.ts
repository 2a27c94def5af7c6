/**
 * Audits the blocks of a source that trusts its node: after some blocks, values that they touched are compared with the node's
 * own as of the newest of them. If one differs, or if none can be compared, the blocks since the audit before are removed again,
 * as far as they are not finalized.
 *
 *   there before | passed an audit | sound | not audited yet | latest
 *                                          |<--- removed --->|
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
  /** The newest block that was there before, or passed an audit; -1 for none. */
  private sound: number;

  /**
   * @param count - accounts of an audit, and slots
   * @param ask - runs work with one node until it succeeds
   */
  constructor(count: number, ask: <T>(work: (node: Node) => Promise<T>) => Promise<T>, host: SourceHost) {
    this.sample = new TouchedSample(count);
    this.ask = ask;
    this.host = host;
    this.sound = host.writer().latest ?? -1;
  }

  get isDue(): boolean {
    return this.blocks >= BLOCKS_PER_AUDIT;
  }

  /** Called with each block before it is applied. */
  note(difference: BlockDifference): void {
    this.sample.note(difference);
    this.blocks++;
    // After a rollback the block has the place of one that passed.
    this.sound = Math.min(this.sound, difference.header.number - 1);
  }

  /**
   * Call it while the import waits for the next block.
   *
   * @throws AuditFailure naming block, account and both values; what `ask` throws
   */
  async run(): Promise<void> {
    if (this.blocks === 0) return;
    await this.host.flush();
    const {latest} = this.host.writer();
    if (latest === undefined) return;
    const subjects = this.sample.take();
    this.blocks = 0;
    const held = new HeldValues(this.host.reader, latest);
    try {
      const isCompared = await auditRange(this.ask, held, subjects);
      if (isCompared && this.isHeld(held)) {
        this.sound = latest;
        this.host.onEvent({kind: "audited", block: latest});
      } else for (const subject of subjects) this.sample.offer(subject);
    } catch (error) {
      const isOfBlock = error instanceof AuditFailure || error instanceof StoreError;
      if (isOfBlock && !this.isHeld(held)) return;
      if (!(error instanceof AuditFailure)) throw error;
      throw new AuditFailure(`${error.message}; ${await this.removeUnsound()}`, {cause: error});
    }
  }

  /** False once an order has removed the block. What was read of it meanwhile says nothing. */
  private isHeld({block, blockHash}: HeldValues): boolean {
    const writer = this.host.writer();
    const hash = block > (writer.latest ?? -1) ? undefined : writer.blockHash(block);
    return hash !== undefined && Buffer.compare(hash, blockHash) === 0;
  }

  /** @returns what was done, as the end of a message */
  private async removeUnsound(): Promise<string> {
    const {finalizedTo, latest = -1} = this.host.writer();
    const sound = Math.min(this.sound, latest);
    // Block 0 is never removed.
    const to = Math.max(sound, Math.min(finalizedTo, latest), 0);
    if (to < latest) await this.host.rollback(to);
    const removed = to < latest ? [`${describe(to + 1, latest)} removed`] : [];
    const why = finalizedTo >= to ? "finalized" : "the first";
    const stays = `${describe(sound + 1, to)} ${why} and stayed: do not trust this store, make it again`;
    return [...removed, ...(to > sound ? [stays] : [])].join("; ");
  }
}

function describe(first: number, last: number): string {
  return first === last ? `block ${first} was` : `blocks ${first} to ${last} were`;
}
