/** Takes the blocks of a source into the store: applies those that are not stored yet, and marks what is finalized. */

import {invalidGenesis} from "../../evm/execution/gethJson.ts";
import {GENESIS_ORIGIN, SettingsFault, type SourceBlock, SourceError} from "../../nodes/blocks/sourceStep.ts";
import {packChanges} from "../../nodes/feed/blockChanges.ts";
import type {BlockDifference, ChainConfig} from "../../storage/block/blockDifference.ts";
import {checkChainId} from "../../storage/block/format.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {removeMissed} from "../../storage/commit/rollback.ts";
import type {AccountReset} from "../../storage/commit/stateWriter.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import type {Head} from "../messages/head.ts";
import type {ImportEvent, ImportJob} from "../messages/importJob.ts";
import type {SourceEvent} from "../messages/importSource.ts";
import {RollbackSignal} from "../messages/rollbackSignal.ts";
import {readHead} from "../threads/storedHead.ts";
import type {WholeState} from "./pulledState.ts";
import {findOpenResets, requireSameResets} from "./resetCheck.ts";
import type {SourceProgress} from "./sourceHost.ts";
import {ChangesRefused, type CheckedBlock, StateRootCheck} from "./stateRootCheck.ts";

export class BlockIntake {
  /** Blocks that the source gave although they were in the store. */
  alreadyStored = 0;
  readonly progress: SourceProgress = {bytesRead: 0, bytesTotal: undefined, target: undefined};
  /** On disk, when it was last read. */
  head: Head;
  private readonly stateRootCheck: StateRootCheck;
  /** Why the last applied block is unverified. undefined: it is verified. */
  private unverified: string | undefined;
  /** Of the whole state that began the store. */
  private builtAccounts = 0;
  /** False until the source has shown that it ends where it should. */
  private mayFinalize: boolean;
  /** The highest block that the source reported as finalized; -1 for none. */
  private finalizedBySource = -1;
  /** The last block from the source that is in the store. */
  private newestSeen: number | undefined;
  /** The blocks of which only the headers are stored, until a later block is on disk. Ascending. */
  private missed: {readonly from: number; readonly to: number}[] = [];
  private readonly rollbackSignal: RollbackSignal | undefined;
  /** The newest stored block before the import; -1 for none. */
  private latestBefore: number;
  /** The thread's work before this import. */
  private readonly begun = performance.eventLoopUtilization();

  private constructor(
    private readonly store: StateStore,
    private readonly job: ImportJob,
    readonly writer: BlockWriter,
    head: Head,
    signal: AbortSignal,
    private readonly onEvent: (event: SourceEvent) => void,
  ) {
    this.stateRootCheck = new StateRootCheck(writer, store.reader.hasTrees, signal);
    this.mayFinalize = job.head === undefined;
    this.rollbackSignal = job.rollbackSignal && new RollbackSignal(job.rollbackSignal);
    this.head = head;
    this.latestBefore = head.latest ?? -1;
  }

  /** @param signal - aborts the writing of a large state with Stopped */
  static async create(
    store: StateStore,
    job: ImportJob,
    signal: AbortSignal,
    onEvent: (event: SourceEvent) => void,
  ): Promise<BlockIntake> {
    // A failed import may have ended in a gap.
    if (store.reader.readSlice() !== undefined) await removeMissed(store);
    const [writer, head] = [await BlockWriter.create(store), await readHead(store)];
    return new BlockIntake(store, job, writer, head, signal, onEvent);
  }

  /** Imported blocks that are on disk. */
  get blocks(): number {
    return (this.head.latest ?? -1) - this.latestBefore;
  }

  /** Reports the gaps below the head that is on disk. */
  async readHead(): Promise<void> {
    this.head = await readHead(this.store);
    const {latest = -1} = this.head;
    for (const gap of this.missed.filter(({to}) => to < latest)) this.onEvent({kind: "missed", ...gap});
    this.missed = this.missed.filter(({to}) => to >= latest);
  }

  describe(): ImportEvent {
    const {head, blocks, progress, builtAccounts, writer} = this;
    return {
      head,
      rollbacks: this.rollbackSignal?.count ?? 0,
      blocks,
      accounts: builtAccounts + writer.accounts,
      ...progress,
      busyMs: performance.eventLoopUtilization(this.begun).active,
    };
  }

  /** @throws StoreError, SourceError, ExecutionError; nothing of the block is kept */
  async take(block: SourceBlock): Promise<void> {
    if (this.isOutdated(block)) return;
    checkChainId(this.writer.chain, block.chainId);
    if (this.writer.isStored(block)) this.alreadyStored++;
    else await this.apply(block);
    this.newestSeen = block.number;
    this.finalizedBySource = Math.max(this.finalizedBySource, block.finalized ?? -1);
    if (this.job.head !== undefined && Buffer.compare(block.hash, this.job.head) === 0)
      this.mayFinalize = true;
    if (this.mayFinalize) this.writer.markFinalized(this.finalizedBySource);
  }

  /**
   * Fills an empty store with a full state, whose block is finalized. Does nothing if the block is stored.
   *
   * @param onProgress - may throw, to end the work
   * @throws StoreError, SourceError: the pages written so far are unreachable; `StateStore.reclaim` removes them
   */
  async begin(state: WholeState, onProgress: () => void): Promise<void> {
    const {path, chainPath} = state;
    const {header} = state.block;
    const {number, hash} = header;
    const {head} = this.job;
    const chain = this.nameChain(state.block.chain, chainPath);
    if (head !== undefined && Buffer.compare(head, hash) !== 0)
      throw new SourceError(
        `${path}: expected the head ${toHex(head)}, got block ${number} (${toHex(hash)})`,
      );
    const {firstBlock, latest} = this.writer;
    if (number >= firstBlock && latest !== undefined && this.writer.isStored(header)) {
      this.alreadyStored++;
      return;
    }
    await state.build(this.store, {...state.block, chain}, this.progress, accounts => {
      this.builtAccounts = accounts;
      onProgress();
    });
    await this.writer.reload();
    this.latestBefore = number - 1;
    this.newestSeen = number;
  }

  private isOutdated({number, parentHash, first}: SourceBlock): boolean {
    if (parentHash === undefined) return false;
    const {newest} = this.writer;
    if (newest === undefined) return number !== (first?.number ?? 0);
    return number !== newest.number + 1 || Buffer.compare(parentHash, newest.hash) !== 0;
  }

  private async apply(block: SourceBlock): Promise<void> {
    let why: string | undefined;
    const put = async (given: BlockDifference): Promise<void> => {
      const chain = given.chain && this.nameChain(given.chain, "block 0");
      const difference = {...given, chain};
      const prepared = await this.writer.prepare(difference);
      try {
        const found = await this.check(block, difference);
        why = found.why;
        const {incomplete = []} = found;
        if (incomplete.length > 0)
          this.onEvent({kind: "incomplete", block: block.number, contracts: incomplete});
        if (why !== undefined && !this.job.allowUnverified)
          throw new SettingsFault(
            `block ${block.number} is unverified: ${why}. --allow-unverified takes such blocks, marked as such`,
          );
        const isVerified = why === undefined;
        const believes =
          isVerified && block.isExecuted !== true && difference.expectedStateRoot === undefined;
        const hasOpenResets = believes && (await this.checkResets(block, difference, prepared.resets));
        const changes = this.job.keepsChanges === true ? packChanges(difference) : undefined;
        this.writer.commit(prepared, {isVerified, trie: found.trie, hasOpenResets, changes});
        this.noteMissed(difference);
      } catch (error) {
        prepared.drop();
        throw error;
      }
    };
    try {
      await put(await block.difference());
    } catch (error) {
      const {origin} = GENESIS_ORIGIN;
      // The file has an address or a slot twice, in different spellings.
      if (block.origin === origin && error instanceof StoreError && error.code === "BLOCK_INVALID")
        throw invalidGenesis("alloc:", error.message);
      const again = error instanceof ChangesRefused ? await block.reread?.() : undefined;
      if (again === undefined) throw error;
      await put(again);
    }
    if (why === this.unverified) return;
    this.unverified = why;
    this.onEvent({kind: "verification", block: block.number, unverified: why});
  }

  /** @returns the block's trie, and why its state is unverified; undefined if it is verified. @throws ChangesRefused */
  private async check(block: SourceBlock, difference: BlockDifference): Promise<CheckedBlock> {
    const executed: CheckedBlock = {why: undefined, trie: difference.trie};
    const {why, trie, incomplete} =
      block.isExecuted === true ? executed : await this.stateRootCheck.apply(difference, block.origin);
    // BlockWriter has compared the expected root.
    return {
      why: block.unverified ?? (difference.expectedStateRoot === undefined ? why : undefined),
      trie,
      incomplete,
    };
  }

  /** Headers do not show resets. @returns whether only the source says so. @throws ChangesRefused, SourceError */
  private async checkResets(
    block: SourceBlock,
    {header}: BlockDifference,
    resets: readonly AccountReset[],
  ): Promise<boolean> {
    const open = findOpenResets(resets, header, block.origin);
    if (open.length === 0) return false;
    const others = (await block.readElsewhere?.()) ?? [];
    for (const other of others) requireSameResets(open, other, block.origin);
    if (others.length > 0) return false;
    this.onEvent({kind: "resets", block: header.number, accounts: open});
    return true;
  }

  /** Makes all blocks durable and visible. @throws StoreError WRITE_FAILED */
  async flush(): Promise<void> {
    const {finalized} = this.job;
    // Only once the source has shown that it is of this chain, and only up to its newest block.
    if (finalized !== undefined && this.newestSeen !== undefined && this.mayFinalize)
      this.writer.markFinalized(finalized === "last" ? this.newestSeen : finalized);
    await this.writer.flush();
  }

  private noteMissed({header: {number}, slice}: BlockDifference): void {
    if (slice !== "missed") return;
    const last = this.missed.at(-1);
    if (last?.to === number - 1) this.missed.pop();
    this.missed.push({from: last?.to === number - 1 ? last.from : number, to: number});
  }

  /** Call it only when all blocks are flushed. @throws StoreError FINALIZED, BLOCK_UNKNOWN, WRITE_FAILED */
  async rollback(block: number): Promise<void> {
    // Finalized blocks are not removed.
    if (block >= (this.head.finalized ?? -1)) this.rollbackSignal?.begin(block);
    await this.store.rollback(block);
    this.missed = [];
    this.latestBefore = Math.min(this.latestBefore, block);
    await this.writer.reload();
    if (this.newestSeen !== undefined) this.newestSeen = Math.min(this.newestSeen, block);
  }

  /** Adds the job's chain id to a chain that has none. */
  private nameChain(chain: ChainConfig, where: string): ChainConfig {
    const {chainId = chain.chainId} = this.job;
    if (chain.chainId !== undefined && chain.chainId !== chainId)
      throw new SettingsFault(`${where}: expected chain ${chainId}, got chain ${chain.chainId}`);
    return {...chain, chainId};
  }
}
