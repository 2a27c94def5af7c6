/**
 * The chain as this process sees it: head, finality, and blocks by hash or number, for callers that need no tree. No
 * other process can have the store open, so every change is reported here.
 */
import type {BlockHeader, ChainConfig} from "../../storage/block/blockDifference.ts";
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import type {Finalizations} from "../../storage/block/finalizations.ts";
import {
  encodeHeader,
  FIRST_ITEMS,
  HEADER_ITEMS,
  type HeaderValues,
  listHeaderItems,
} from "../../storage/block/headerRlp.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {MAX_ANCESTORS} from "../../storage/commit/firstBlock.ts";
import {isDamage} from "../../storage/errors.ts";
import type {PrunedBlocks, PrunedView} from "../../storage/prune/prunedBlocks.ts";
import {type Failure, failureOf} from "../messages/failure.ts";
import type {Head} from "../messages/head.ts";
import {RollbackSignal} from "../messages/rollbackSignal.ts";

export {FIRST_ITEMS, HEADER_ITEMS};

/** A block as chain_getStateRoot shows it. */
export interface BlockSummary {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes: the top root of the account tree. */
  readonly stateRoot: Uint8Array;
  /** Seconds, usually since 1970; undefined: unknown. */
  readonly timestamp: bigint | undefined;
}

/** What a block's successors need to know of it besides its state. */
interface HeaderContext {
  readonly block: BlockSummary;
  /** The known fields of its header, except number and hash. */
  readonly header: Omit<BlockHeader, "number" | "hash">;
  /** Hashes of the blocks before it, newest first: at most 256, and fewer if older ones are unknown. */
  readonly ancestors: readonly Uint8Array[];
  /** geth's genesis config, as JSON text. undefined: unknown. */
  readonly config: string | undefined;
  /** undefined: unknown. */
  readonly headerRlp: Uint8Array | undefined;
}

/** A block, and its changes if they were kept with it. */
interface KeptBlock {
  readonly number: number;
  /** 32 bytes each. */
  readonly hash: Uint8Array;
  readonly parentHash: Uint8Array;
  readonly stateRoot: Uint8Array;
  /** Does a trusted root commit to the state after the block? */
  readonly isVerified: boolean;
  /** From nodes/feed/blockChanges.ts. */
  readonly packed: Buffer | undefined;
}

const ADDRESS_CHARACTERS = 42;
const NO_HASH = new Uint8Array(32);

/**
 * Called right after each change of the head, in order. `latest` falls only by a rollback: the blocks above it are
 * gone, and other blocks may get their numbers. `finalized` never falls.
 */
type HeadListener = (head: Head, before: Head) => void;

export class ChainView {
  /** Block 0 fixes it. */
  private chain: ChainConfig | undefined;
  private readonly listeners = new Set<HeadListener>();
  /** Rollbacks of a running import. */
  readonly rollbackSignal = new RollbackSignal();
  /** Rollbacks that had begun when `current` was read. */
  private rollbacks = 0;

  /** @param expectedChainId - the chain id if block 0 has none */
  constructor(
    private readonly reader: StateReader,
    private current: Head,
    private readonly prunedBlocks: PrunedBlocks,
    private readonly expectedChainId: bigint | undefined,
  ) {}

  get suite(): string {
    return this.reader.suiteName;
  }

  /** undefined if neither block 0 nor the options name one. */
  get chainId(): bigint | undefined {
    this.chain ??= this.reader.readChain();
    return this.chain?.chainId ?? this.expectedChainId;
  }

  /** `latest` falls before its block is removed. */
  head(): Head {
    const {current, rollbackSignal} = this;
    if (rollbackSignal.count === this.rollbacks || current.latest === undefined) return current;
    return {...current, latest: Math.min(current.latest, rollbackSignal.block)};
  }

  /** The newest stored block, or -1. */
  get newest(): number {
    return this.head().latest ?? -1;
  }

  /** Ranges of blocks of which a store of slices did not record the state, above the oldest one that can be proved. */
  get gaps(): readonly {readonly from: number; readonly to: number}[] {
    return this.prunedBlocks.gapsFrom(this.head().earliest ?? 0);
  }

  /** Blocks that cannot be proved any more. */
  get pruned(): PrunedView {
    return this.prunedBlocks;
  }

  /** @param hash - 32 bytes. @returns undefined if no stored or pruned block has this hash */
  findBlock(hash: Uint8Array): number | undefined {
    return this.reader.findBlock(hash);
  }

  /** @returns a failure for a pruned block, whose state cannot be read */
  readBlock(block: number): BlockSummary | Failure {
    return this.attempt(() => summarize(this.reader.blockOrThrow(block)));
  }

  /** As readBlock, also for a pruned block. */
  readHeader(block: number): BlockSummary | Failure {
    return this.attempt(() => summarize(this.reader.headerRecordOrThrow(block)));
  }

  /** Of a pruned block too. @returns `values` undefined: its source gave no whole header of Ethereum's form */
  readHeaderValues(
    block: number,
  ): {readonly hash: Uint8Array; readonly values: HeaderValues | undefined} | Failure {
    return this.attempt(() => {
      const {header} = this.reader.headerRecordOrThrow(block);
      return {hash: header.hash, values: listHeaderItems(header)};
    });
  }

  /** The hash of a stored block, or of a known ancestor of the first one. */
  readHash(block: number): Uint8Array | undefined {
    return block > this.newest ? undefined : this.reader.readBlockHash(block);
  }

  readKept(block: number): KeptBlock | undefined {
    const {header, stateRoot} = (block > this.newest ? undefined : this.reader.readHeaderRecord(block)) ?? {};
    if (header === undefined || stateRoot === undefined) return undefined;
    const {number, hash} = header;
    const packed = this.reader.readChanges(header);
    const parentHash = header.parentHash ?? this.readHash(block - 1) ?? NO_HASH;
    return {number, hash, parentHash, stateRoot, isVerified: block < this.reader.readUnverified(), packed};
  }

  /** @returns a failure as readBlock */
  readContext(block: number): HeaderContext | Failure {
    return this.attempt(() => {
      const record = this.reader.blockOrThrow(block);
      const {number: _number, hash: _hash, rest: _rest, ...header} = record.header;
      const ancestors: Uint8Array[] = [];
      for (let before = block - 1; before >= 0 && ancestors.length < MAX_ANCESTORS; before--) {
        const ancestor = this.reader.readBlockHash(before);
        if (ancestor === undefined) break;
        ancestors.push(ancestor);
      }
      const config = this.reader.readChain()?.config;
      return {block: summarize(record), headerRlp: encodeHeader(record.header), header, ancestors, config};
    });
  }

  /** Blocks to whose state no trusted root commits. All if the record is damaged. @param head - of the request */
  unverified(
    {earliest = 0, latest = -1}: Head = this.head(),
  ): readonly [from: number, to: number] | undefined {
    let first = earliest;
    try {
      first = Math.max(earliest, this.reader.readUnverified());
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    return first <= latest ? [first, latest] : undefined;
  }

  /** The first and the last block with account resets that only their source reports. */
  openResets(): readonly [from: number, to: number] | undefined {
    try {
      const resets = this.reader.readOpenResets();
      return resets && [resets.from, resets.to];
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }

  /** Does the store have the state trie of a block? If it does, it has that of all older ones. @throws StoreError */
  hasTrie(block: number): boolean {
    return this.reader.readBlock(block)?.trie !== undefined;
  }

  /** Does the store have the account at the block? Only slices lack some, and all codes. @throws StoreError RECORD_DAMAGED */
  hasAccount(address: unknown, block: number, withCode: boolean): boolean {
    const slice = this.reader.readSlice();
    if (slice === undefined || typeof address !== "string") return true;
    // The caller has not checked it. It may be as long as a body.
    if (address.length !== ADDRESS_CHARACTERS) return true;
    const lower = address.toLowerCase();
    const own = slice.filter(one => one.address === lower);
    return !withCode && own.some(({from, to = block}) => from <= block && block <= to);
  }

  /** Are the chain's rules those of Ethereum, on whole states? @throws StoreError RECORD_DAMAGED */
  canRunCalls(): boolean {
    const {config} = this.reader.readChain() ?? {};
    return !this.reader.isSliced && (config === undefined || JSON.parse(config).optimism === undefined);
  }

  get finalizations(): Finalizations {
    return this.reader.finalizations;
  }

  /** Adds the nearest provable blocks to a failure at a pruned block. */
  withNearest<T extends Failure>(failure: T): T {
    if (failure.failure !== "BLOCK_PRUNED") return failure;
    return {...failure, nearest: this.prunedBlocks.nearest(failure.block)};
  }

  /** Of these blocks only the headers are stored. The head that is above them is set next. */
  addMissed(from: number, to: number): void {
    this.prunedBlocks.addMissed(from, to);
  }

  /** Called by the pruner, before it prunes. @returns how many of the blocks were not pruned before */
  addPruned(from: number, to: number): number {
    const {prunedBlocks} = this;
    let added = 0;
    for (let block = from; block <= to; block++) if (!prunedBlocks.has(block)) added++;
    prunedBlocks.add(from, to);
    this.setHead(this.current);
    return added;
  }

  /** @returns a function that removes the listener */
  onChange(listener: HeadListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * Called once a change is on disk, or before blocks are removed. @param read - `earliest` may be out of date
   *
   * @param rollbacks - that had begun before the head was read
   */
  setHead(read: Head, rollbacks = this.rollbacks): void {
    const before = this.current;
    this.rollbacks = rollbacks;
    if ((read.latest ?? -1) < (before.latest ?? -1)) this.prunedBlocks.cut(read.latest ?? -1);
    const {earliest} = read;
    if (before.latest === undefined && earliest !== undefined)
      this.prunedBlocks.begin(this.reader.firstBlock);
    const head = this.provable(read);
    const isSame =
      head.earliest === before.earliest &&
      head.finalized === before.finalized &&
      head.latest === before.latest;
    if (isSame) return;
    this.current = head;
    for (const listener of this.listeners) listener(head, before);
  }

  /** With the oldest and the newest finalized block that can be proved. */
  private provable(read: Head): Head {
    const {prunedBlocks} = this;
    const {earliest, finalized} = read;
    if (earliest === undefined) return read;
    const isLost = finalized !== undefined && prunedBlocks.has(finalized);
    return {
      ...read,
      earliest: prunedBlocks.unprunedFrom(earliest),
      finalized: isLost ? prunedBlocks.nearest(finalized).below : finalized,
    };
  }

  private attempt<Found>(read: () => Found): Found | Failure {
    try {
      return read();
    } catch (error) {
      return this.withNearest(failureOf(error));
    }
  }
}

function summarize({header, stateRoot}: BlockRecord): BlockSummary {
  const {number, hash, timestamp} = header;
  return {number, hash, stateRoot, timestamp};
}
