/**
 * Audits the blocks of a source that trusts its node: after some blocks, values that they touched are compared with the node's
 * own as of the newest of them. If one differs, or if none can be compared, the blocks since the audit before are removed again.
 * None of them is finalized before: the store remembers which block is the first that awaits its audit.
 *
 *   there before | passed an audit | unaudited ... latest
 *                                  |<---- removed ----->|
 */
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {HeldValues} from "../../../storage/block/heldValues.ts";
import {StoreError} from "../../../storage/errors.ts";
import type {AuditSubject} from "../../../sync/layer2/audit.ts";
import {AuditFailure, auditRange} from "../../../sync/layer2/auditRange.ts";
import {TouchedSample} from "../../../sync/layer2/auditSample.ts";
import type {Node} from "../../../sync/rpc/node.ts";
import type {SourceHost} from "../sourceHost.ts";

/** While catching up. At the node's head there is an audit after each block. */
const BLOCKS_PER_AUDIT = 256;
/** Blocks wait for their audit no longer than this, unless the next one takes longer: their finality waits too. */
const AUDIT_EVERY_MS = 10_000;

/** Runs work with one node until it succeeds. */
export type Ask = <T>(work: (node: Node) => Promise<T>) => Promise<T>;

export class RangeAudit {
  private readonly sample: TouchedSample;
  /** In the sample since the last audit. */
  private blocks = 0;
  private sinceMs = 0;

  /**
   * From now on, blocks that are applied are finalized only after their audit.
   *
   * @param count - accounts of an audit, and slots
   * @param nowMs - a clock that never goes back
   */
  constructor(
    count: number,
    private readonly ask: Ask,
    private readonly host: SourceHost,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.sample = new TouchedSample(count);
    host.writer().awaitAudits();
  }

  get isDue(): boolean {
    if (this.blocks === 0) return false;
    return this.blocks >= BLOCKS_PER_AUDIT || this.nowMs() - this.sinceMs >= AUDIT_EVERY_MS;
  }

  /** False if every block held has passed. */
  get isAwaited(): boolean {
    const {unaudited, latest = -1} = this.host.writer();
    return unaudited <= latest;
  }

  /** @param unnamed - what the block should have touched besides */
  note(difference: BlockDifference, unnamed: readonly AuditSubject[] = []): void {
    if (this.blocks++ === 0) this.sinceMs = this.nowMs();
    this.sample.note(difference);
    for (const subject of unnamed) this.sample.offerOnce(subject);
  }

  /** Removes the blocks that an earlier import left without an audit, because it was stopped or killed. They are read again. */
  async dropUnaudited(): Promise<void> {
    if (this.isAwaited) this.host.onEvent({kind: "unaudited", ...(await this.removeUnaudited())});
  }

  /**
   * Compares the sample with the node, if a block that is held awaits it. If the node does not have the newest block held, nothing
   * is compared, and the next call tries again. Call it while the import waits for the next block.
   *
   * @throws AuditFailure naming block, account and both values; what `ask` throws
   */
  async run(): Promise<void> {
    if (!this.isAwaited) return;
    await this.host.flush();
    const {latest} = this.host.writer();
    // An order may have removed them meanwhile.
    if (latest === undefined || !this.isAwaited) return;
    const subjects = this.sample.take();
    const held = new HeldValues(this.host.reader, latest);
    try {
      if ((await auditRange(this.ask, held, subjects)) && this.isHeld(held)) {
        this.blocks = 0;
        await this.host.noteAudited(latest);
      } else {
        for (const subject of subjects) this.sample.offer(subject);
        this.blocks = 1;
        this.sinceMs = this.nowMs();
      }
    } catch (error) {
      const isOfBlock = error instanceof AuditFailure || error instanceof StoreError;
      if (isOfBlock && !this.isHeld(held)) return;
      if (!(error instanceof AuditFailure)) throw error;
      const {first, last} = await this.removeUnaudited();
      const removed = first === last ? `block ${first} was` : `blocks ${first} to ${last} were`;
      throw new AuditFailure(`${error.message}; ${removed} removed`, {cause: error});
    }
  }

  /** False once an order has removed the block. What was read of it meanwhile says nothing. */
  private isHeld({block, blockHash}: HeldValues): boolean {
    const writer = this.host.writer();
    const hash = block > (writer.latest ?? -1) ? undefined : writer.blockHash(block);
    return hash !== undefined && Buffer.compare(hash, blockHash) === 0;
  }

  /** Block 0 is never one of them: a store is audited only if it holds blocks. @returns which ones were removed */
  private async removeUnaudited(): Promise<{first: number; last: number}> {
    const {unaudited: first, latest: last = first} = this.host.writer();
    await this.host.rollback(first - 1);
    return {first, last};
  }
}
