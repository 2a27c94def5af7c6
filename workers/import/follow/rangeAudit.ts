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
import {SourceError} from "../sourceBlock.ts";
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

  /**
   * Removes the blocks that an earlier import left without an audit, because it was stopped or killed. They are read again.
   *
   * @throws SourceError if block 0 is one of them, which is never removed
   */
  async dropUnaudited(): Promise<void> {
    const {unaudited} = this.host.writer();
    if (unaudited === 0)
      throw new SourceError(
        "block 0 of this store has not passed an audit: import the chain into a new store",
      );
    if (this.isAwaited) await this.host.rollback(unaudited - 1);
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
    if (latest === undefined) return;
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
    const {unaudited, latest = -1} = this.host.writer();
    // Block 0 is never removed.
    const to = Math.min(Math.max(unaudited - 1, 0), latest);
    if (to < latest) await this.host.rollback(to);
    const removed = to < latest ? [`${describe(to + 1, latest)} removed`] : [];
    const stays = "block 0 was the first and stayed: do not trust this store, make it again";
    return [...removed, ...(unaudited === 0 ? [stays] : [])].join("; ");
  }
}

function describe(first: number, last: number): string {
  return first === last ? `block ${first} was` : `blocks ${first} to ${last} were`;
}
