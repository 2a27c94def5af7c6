/** How far an import has come: what is on disk, and what was read for it. */
import type {StateStore} from "../../storage/stateStore.ts";
import type {Head} from "../job/head.ts";
import type {ImportEvent, ImportJob} from "../job/importJob.ts";
import {Retreat} from "../job/retreat.ts";
import {readHead} from "../thread/storedHead.ts";
import type {BlockIntake} from "./blockIntake.ts";
import type {OpenedSource} from "./sourceHost.ts";

export class ImportProgress {
  /** undefined until the source is open. */
  input: OpenedSource["input"] | undefined;
  private readonly store: StateStore;
  private readonly intake: BlockIntake;
  private readonly retreat: Retreat | undefined;
  private newest: Head;
  /** The newest stored block that was there before the import; -1 for none. */
  private latestBefore: number;

  private constructor(store: StateStore, intake: BlockIntake, head: Head, retreat: Retreat | undefined) {
    this.store = store;
    this.retreat = retreat;
    this.intake = intake;
    this.newest = head;
    this.latestBefore = head.latest ?? -1;
  }

  /** Call it before the first block is written. */
  static async create(
    store: StateStore,
    intake: BlockIntake,
    cells: ImportJob["retreat"],
  ): Promise<ImportProgress> {
    const retreat = cells === undefined ? undefined : new Retreat(cells);
    return new ImportProgress(store, intake, await readHead(store), retreat);
  }

  /** Blocks above `to` are about to be removed. */
  noteRetreat(to: number): void {
    this.retreat?.begin(to);
  }

  /** As it was last read. */
  get head(): Head {
    return this.newest;
  }

  /** Imported blocks that were on disk then. */
  get blocks(): number {
    return (this.newest.latest ?? -1) - this.latestBefore;
  }

  async readHead(): Promise<void> {
    this.newest = await readHead(this.store);
  }

  /** The blocks above `to` were removed. */
  noteRollback(to: number): void {
    this.latestBefore = Math.min(this.latestBefore, to);
  }

  describe(): ImportEvent {
    const {head, blocks, input} = this;
    const {accounts, slots} = this.intake;
    return {
      head,
      retreats: this.retreat?.count ?? 0,
      blocks,
      accounts,
      slots,
      bytesRead: input?.bytesRead() ?? 0,
      bytesTotal: input?.bytesTotal,
      target: input?.target?.(),
    };
  }
}
