/**
 * The import job: takes blocks from a source, writes those that are not held, says what is on disk.
 *
 * Several blocks share a synced write while the source has more at hand; as soon as it has not, what is complete is
 * written, so that a block that comes alone is provable at once.
 */

import {checkChainId} from "../../storage/block/format.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {StoreError} from "../../storage/errors.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import {ExecutionError} from "../execution/errors.ts";
import {type Head, readHead} from "../job/head.ts";
import type {ImportJob, ImportMessage, ImportOutcome, NumberedOrder} from "../job/importJob.ts";
import {readDifferenceLines} from "./differenceLines.ts";
import {FollowedInput} from "./followedInput.ts";
import {readFollowedLines} from "./followedLines.ts";
import {type InputFile, openInput} from "./inputFile.ts";
import {type SourceBlock, SourceError, Stopped} from "./sourceBlock.ts";
import {endAtHead} from "./sourceEnd.ts";

/** A source that gives nothing for this long has nothing at hand: what is complete is written. */
const IDLE_MS = 5;
/** What is complete is written at least this often, so that a bulk import shows and can resume. */
const FLUSH_INTERVAL_MS = 1000;
const TEXT_CHUNK_BYTES = 256 << 10;
/** A few blocks: each takes a while to execute, and the progress shown is that of the bytes read. */
const CHAIN_CHUNK_BYTES = 4 << 10;
/** Larger genesis files do not fit a string of V8. */
const MAX_GENESIS_BYTES = 480 << 20;

export class Importer {
  private readonly store: StateStore;
  private readonly job: ImportJob;
  private readonly writer: BlockWriter;
  private readonly onEvent: (event: ImportMessage) => void;
  /** Taken between two blocks. */
  private readonly orders: NumberedOrder[] = [];
  /** Ends the wait for the source's next block, or for an order. */
  private wake = (): void => {};
  /** Ends the input. */
  private readonly ending = new AbortController();
  private stopped = false;
  private input: Pick<InputFile, "bytesRead" | "bytesTotal"> | undefined;
  private head: Head;
  /** The newest block before the import; -1 for none. */
  private readonly latestBefore: number;
  private alreadyHeld = 0;
  /** False until the source has shown that it ends where it should. */
  private mayFinalize: boolean;
  /** The highest number that the source called finalized; -1 for none. */
  private finalizedBySource = -1;
  /** The last block that the source gave and that is held now. */
  private newestSeen: number | undefined;
  private flushedAt = performance.now();

  private constructor(
    store: StateStore,
    job: ImportJob,
    writer: BlockWriter,
    head: Head,
    onEvent: (event: ImportMessage) => void,
  ) {
    this.store = store;
    this.job = job;
    this.writer = writer;
    this.head = head;
    this.latestBefore = head.latest ?? -1;
    this.onEvent = onEvent;
    this.mayFinalize = job.head === undefined;
  }

  static async create(
    store: StateStore,
    job: ImportJob,
    onEvent: (event: ImportMessage) => void,
  ): Promise<Importer> {
    return new Importer(store, job, await BlockWriter.create(store), await readHead(store), onEvent);
  }

  /** Asks to end after the block at hand. */
  stop(): void {
    this.stopped = true;
    this.ending.abort();
  }

  /** Answered by an event, at the latest after the block at hand; not at all once the import is over. */
  take(order: NumberedOrder): void {
    this.orders.push(order);
    this.wake();
  }

  /** Expected failures are outcomes; all that was complete before them is on disk. */
  async run(): Promise<ImportOutcome> {
    let at: SourceBlock | undefined;
    try {
      const source = await this.openSource();
      const {head} = this.job;
      const blocks = head === undefined ? source : endAtHead(source, head, this.ending.signal);
      for await (const block of this.whileIdle(blocks)) {
        at = block;
        await this.takeBlock(block);
        at = undefined;
        if (this.stopped) break;
      }
    } catch (error) {
      if (!(error instanceof Stopped)) return await this.fail(error, at);
    }
    try {
      await this.flush();
    } catch (error) {
      return await this.fail(error, undefined);
    }
    const {head, blocks, alreadyHeld, stopped} = this;
    return {ok: true, head, blocks, alreadyHeld, stopped};
  }

  /** Blocks imported that are on disk. */
  private get blocks(): number {
    return (this.head.latest ?? -1) - this.latestBefore;
  }

  private async takeBlock(block: SourceBlock): Promise<void> {
    checkChainId(this.writer.chain, block.chainId);
    if (this.writer.isHeld(block)) this.alreadyHeld++;
    else await this.writer.apply(this.nameChain(await block.difference()));
    this.newestSeen = block.number;
    this.finalizedBySource = Math.max(this.finalizedBySource, block.finalized ?? -1);
    if (this.job.head !== undefined && Buffer.compare(block.hash, this.job.head) === 0)
      this.mayFinalize = true;
    if (this.mayFinalize) this.writer.markFinalized(this.finalizedBySource);
    if (this.writer.isFull || performance.now() - this.flushedAt > FLUSH_INTERVAL_MS) await this.flush();
  }

  /** Yields the source's blocks; writes what is complete whenever it has none at hand. */
  private async *whileIdle(source: AsyncGenerator<SourceBlock>): AsyncGenerator<SourceBlock> {
    try {
      for (;;) {
        const next = source.next();
        if (this.writer.hasPending && !(await isSettledWithin(next, IDLE_MS))) await this.flush();
        await this.obeyUntilSettled(next);
        const {done, value} = await next;
        if (done === true) return;
        yield value;
      }
    } finally {
      this.ending.abort();
      await source.return(undefined);
    }
  }

  /** No block is being applied meanwhile. */
  private async obeyUntilSettled(next: Promise<unknown>): Promise<void> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      this.wake();
    };
    next.then(settle, settle);
    for (;;) {
      for (let order = this.orders.shift(); order !== undefined; order = this.orders.shift())
        await this.obey(order);
      if (isSettled) return;
      await new Promise<void>(resolve => {
        this.wake = resolve;
      });
    }
  }

  private async obey({order, finalize}: NumberedOrder): Promise<void> {
    try {
      this.writer.finalizeHeld(finalize);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.onEvent({order, refusal: {code: error.code, message: error.message}});
      return;
    }
    await this.flush();
    this.onEvent({order, refusal: null});
  }

  private async flush(): Promise<void> {
    const {finalized} = this.job;
    // Only once the source has shown that it is of this chain, and no further than it went.
    if (finalized !== undefined && this.newestSeen !== undefined && this.mayFinalize)
      this.writer.markFinalized(finalized === "last" ? this.newestSeen : finalized);
    await this.writer.flush();
    this.flushedAt = performance.now();
    this.head = await readHead(this.store);
    const {accounts, slots} = this.writer;
    this.onEvent({
      head: this.head,
      blocks: this.blocks,
      accounts,
      slots,
      bytesRead: this.input?.bytesRead() ?? 0,
      bytesTotal: this.input?.bytesTotal ?? null,
    });
  }

  private async fail(error: unknown, at: SourceBlock | undefined): Promise<ImportOutcome> {
    let writeFailed = isWriteFailure(error);
    let message = `${writeFailed ? "" : whereOf(at)}${reasonOf(error)}`;
    try {
      // What could not be written is cleared away when the store is opened again.
      if (!writeFailed) {
        await this.flush();
        await this.store.reclaim();
      }
    } catch (second) {
      writeFailed = isWriteFailure(second);
      message += `; then: ${reasonOf(second)}`;
    }
    this.head = await readHead(this.store);
    const {head, blocks} = this;
    return {ok: false, head, blocks, message, writeFailed};
  }

  private async openSource(): Promise<AsyncGenerator<SourceBlock>> {
    const {source, chainId} = this.job;
    const {signal} = this.ending;
    checkChainId(this.store.reader.readChain(), chainId);
    if (source.kind === "diffs") {
      const options = {chunkBytes: TEXT_CHUNK_BYTES, signal};
      if (source.follow) {
        const followed = new FollowedInput(source.path, options, this.onEvent);
        this.input = followed;
        return readFollowedLines(followed, signal);
      }
      const input = await openInput(source.path, options);
      this.input = input;
      return readDifferenceLines(input.chunks, signal);
    }
    const genesis = await readGenesis(source.genesisPath, signal);
    const input = await openInput(source.blocksPath, {chunkBytes: CHAIN_CHUNK_BYTES, signal});
    this.input = input;
    // Loads the EVM: half a second and 15 MB that differences can do without.
    const {readChainBlocks} = await import("./chainBlocks.ts");
    return readChainBlocks(genesis, input.chunks, this.writer, signal);
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

async function readGenesis(path: string, signal: AbortSignal): Promise<string> {
  const {chunks} = await openInput(path, {chunkBytes: TEXT_CHUNK_BYTES, signal});
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_GENESIS_BYTES) throw new SourceError(`${path} is longer than ${MAX_GENESIS_BYTES} bytes`);
  }
  if (signal.aborted) throw new Stopped();
  return Buffer.concat(parts).toString();
}

/** Resolves to false if `promise` takes longer. */
async function isSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  const first = await Promise.race([settled, idle]);
  clearTimeout(timer);
  return first;
}

/** Lines have a number besides their block's. */
function whereOf(at: SourceBlock | undefined): string {
  return at !== undefined && "line" in at ? `line ${at.line}: ` : "";
}

function isWriteFailure(error: unknown): boolean {
  return error instanceof StoreError && error.code === "WRITE_FAILED";
}

function reasonOf(error: unknown): string {
  const isExpected =
    error instanceof StoreError || error instanceof SourceError || error instanceof ExecutionError;
  if (isExpected) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
