/**
 * Takes the blocks of a source into the store: those that are not held are applied, all are finalized as job and source say,
 * and a rollback takes the newest ones away again.
 */
import {checkChainId} from "../../storage/block/format.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import type {ImportJob} from "../job/importJob.ts";
import {type SourceBlock, SourceError} from "./sourceBlock.ts";

export class BlockIntake {
  /** Blocks that were held when the source gave them. */
  alreadyHeld = 0;
  private readonly store: StateStore;
  private readonly job: ImportJob;
  private current: BlockWriter;
  /** Changed accounts and slots that the writers before `current` took. */
  private readonly before = {accounts: 0, slots: 0};
  /** False until the source has shown that it ends where it should. */
  private mayFinalize: boolean;
  /** The highest number that the source called finalized; -1 for none. */
  private finalizedBySource = -1;
  /** The last block that the source gave and that is held now. */
  private newestSeen: number | undefined;

  private constructor(store: StateStore, job: ImportJob, writer: BlockWriter) {
    this.store = store;
    this.job = job;
    this.current = writer;
    this.mayFinalize = job.head === undefined;
  }

  static async create(store: StateStore, job: ImportJob): Promise<BlockIntake> {
    return new BlockIntake(store, job, await BlockWriter.create(store));
  }

  /** Another one after a rollback: not to be kept. */
  get writer(): BlockWriter {
    return this.current;
  }

  /** Accounts that were changed. */
  get accounts(): number {
    return this.before.accounts + this.current.accounts;
  }

  get slots(): number {
    return this.before.slots + this.current.slots;
  }

  /** @throws StoreError, SourceError, ExecutionError; nothing of the block is kept */
  async take(block: SourceBlock): Promise<void> {
    checkChainId(this.current.chain, block.chainId);
    if (this.current.isHeld(block)) this.alreadyHeld++;
    else await this.current.apply(this.nameChain(await block.difference()));
    this.newestSeen = block.number;
    this.finalizedBySource = Math.max(this.finalizedBySource, block.finalized ?? -1);
    if (this.job.head !== undefined && Buffer.compare(block.hash, this.job.head) === 0)
      this.mayFinalize = true;
    if (this.mayFinalize) this.current.markFinalized(this.finalizedBySource);
  }

  /** Makes all that was taken durable and visible. @throws StoreError WRITE_FAILED */
  async flush(): Promise<void> {
    const {finalized} = this.job;
    // Only once the source has shown that it is of this chain, and no further than it went.
    if (finalized !== undefined && this.newestSeen !== undefined && this.mayFinalize)
      this.current.markFinalized(finalized === "last" ? this.newestSeen : finalized);
    await this.current.flush();
  }

  /**
   * Removes the blocks above `block`. Only when all that was taken is flushed.
   *
   * @throws StoreError FINALIZED, BLOCK_UNKNOWN: nothing is removed; WRITE_FAILED
   */
  async rollback(block: number): Promise<void> {
    await this.store.rollback(block);
    // The writer's newest block, and the page numbers that it gives, are those from before.
    this.before.accounts = this.accounts;
    this.before.slots = this.slots;
    this.current = await BlockWriter.create(this.store);
    if (this.newestSeen !== undefined) this.newestSeen = Math.min(this.newestSeen, block);
  }

  /** Block 0 says which chain this is, or else the job does. */
  private nameChain<T extends Awaited<ReturnType<SourceBlock["difference"]>>>(block: T): T {
    const {chainId} = this.job;
    if (block.chain === undefined || chainId === undefined) return block;
    if (block.chain.chainId !== undefined && block.chain.chainId !== chainId)
      throw new SourceError(`block 0 is of chain ${block.chain.chainId}, expected is chain ${chainId}`);
    return {...block, chain: {...block.chain, chainId}};
  }
}
