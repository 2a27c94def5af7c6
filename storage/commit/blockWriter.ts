/**
 * Writes blocks: checks that a block follows the newest one, applies its changes, and writes its record last. `flush`
 * makes blocks durable and visible. A refused block leaves nothing behind. A store has one writer at a time.
 */
import type {BlockDifference, BlockHeader, ChainConfig} from "../block/blockDifference.ts";
import {type BlockRecord, encodeFields, hashOfBlockRecord} from "../block/blockRecord.ts";
import type {BlockTrie} from "../block/blockTrie.ts";
import {type ChainRecord, encodeChain} from "../block/format.ts";
import {requireHash} from "../block/headerRlp.ts";
import {encodeKept, placeOfChanges} from "../block/keptChanges.ts";
import {encodeOpenResets, type OpenResets, openAfter} from "../block/openResets.ts";
import {
  decodeSlice,
  encodeSlice,
  type SliceBlock,
  type SlicedContract,
  sliceAfter,
} from "../block/sliceBlock.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";
import {blockKey, hashKey, MAX_U48, META, OPEN_RESETS, prunedKey, SLICE} from "../record/layout.ts";
import {decodeNumber, encodeNumber} from "../record/recordBody.ts";
import {NO_TREE, type TreeRoot} from "../tree/treeRoot.ts";
import {type FinalityStep, putFinalityStep} from "./finalityStep.ts";
import {type AccountReset, StateWriter} from "./stateWriter.ts";
import {TrieChanges} from "./trieChanges.ts";
import {WriteBatch, type WriteTarget} from "./writeBatch.ts";

/** A block whose changes are applied to the sparse trees. The next step is to commit or drop it. */
interface PreparedBlock {
  readonly block: BlockDifference;
  /** The account tree after the block; undefined in a store without sparse trees. */
  readonly tree: {readonly root: Uint8Array; readonly accounts: TreeRoot} | undefined;
  readonly resets: readonly AccountReset[];
  /** Removes from the batch what was put since the block was prepared, its state trie too. */
  readonly drop: () => void;
}

interface BlockCheck {
  /** A trusted root commits to the state after the block, and so to all blocks up to it. Default: true. */
  readonly isVerified?: boolean;
  /** The state trie after the block, if its pages were put. */
  readonly trie?: BlockTrie | undefined;
  /** Only the block's source reports that accounts were removed and created again. */
  readonly hasOpenResets?: boolean;
  /** What the block changed, to be kept with it for a feed. */
  readonly changes?: Uint8Array | undefined;
}

export class BlockWriter {
  private readonly reader: StateReader;
  /** Also where the next block's state trie is put, before the block is applied. */
  readonly batch: WriteBatch;
  /** TrieChanges: the store has no sparse trees. */
  private readonly state: StateWriter | TrieChanges;
  private tip: Pick<BlockRecord, "header" | "accounts" | "trie"> | undefined;
  private finalized = -1;
  private firstUnverified = MAX_U48;
  private openResets: OpenResets | undefined;
  /** That of block 0, applied and perhaps not flushed. */
  private pendingChain: ChainRecord | undefined;
  /** The contracts after the last applied block; undefined: whole tries. */
  private slice: readonly SlicedContract[] | undefined;

  private constructor(target: WriteTarget) {
    const {reader} = target;
    this.reader = reader;
    this.batch = new WriteBatch(target);
    this.state = reader.hasTrees ? new StateWriter(reader, this.batch) : new TrieChanges(this.batch);
  }

  static async create(target: WriteTarget): Promise<BlockWriter> {
    const writer = new BlockWriter(target);
    await writer.reload();
    return writer;
  }

  /** Continues after the newest block on disk. Call it after a rollback. Nothing may be left to flush. */
  async reload(): Promise<void> {
    const {reader} = this;
    const latest = await reader.latest();
    this.tip = latest === undefined ? undefined : reader.blockOrThrow(latest);
    this.finalized = reader.readFinalized() ?? -1;
    this.firstUnverified = reader.readUnverified();
    this.openResets = reader.readOpenResets();
    this.pendingChain = undefined;
    this.slice = reader.readSlice();
    this.batch.reset(await reader.nextPage(), latest);
  }

  /** Number of accounts that the applied blocks changed, since the writer was created. */
  get accounts(): number {
    return this.state.accounts;
  }

  get latest(): number | undefined {
    return this.tip?.header.number;
  }

  get firstBlock(): number {
    return this.pendingChain?.first?.number ?? this.reader.firstBlock;
  }

  get newest(): BlockHeader | undefined {
    return this.tip?.header;
  }

  /** Blocks up to this one are finalized, flushed or not, even if they are not in the store yet; -1 for none. */
  get finalizedTo(): number {
    return this.finalized;
  }

  /** The chain configuration from the first block, flushed or not. undefined before it. */
  get chain(): ChainConfig | undefined {
    return this.pendingChain ?? this.reader.readChain();
  }

  /** @returns false for the next block, true for an older one. @throws StoreError BLOCK_CONFLICT, BLOCK_GAP */
  isStored({
    number,
    hash,
    first,
  }: Pick<BlockHeader, "number" | "hash"> & Pick<BlockDifference, "first">): boolean {
    const expected = this.latest === undefined ? (first?.number ?? 0) : this.latest + 1;
    if (number === expected) return false;
    if (number > expected)
      throw new StoreError("BLOCK_GAP", `expected block ${expected} next, got block ${number}`);
    const stored = this.blockHash(number);
    if (stored === undefined && number < this.firstBlock) return true;
    if (stored === undefined)
      throw new StoreError("RECORD_MISSING", `record of block ${number} is not in the store`);
    if (Buffer.compare(stored, hash) !== 0)
      throw new StoreError(
        "BLOCK_CONFLICT",
        `block ${number} has hash ${toHex(hash)}, but the store has ${toHex(stored)}`,
      );
    return true;
  }

  /** Prepares and commits a block, or keeps nothing of it. @throws StoreError as `prepare` and `commit` */
  async apply(block: BlockDifference, check?: BlockCheck): Promise<void> {
    const prepared = await this.prepare(block);
    try {
      this.commit(prepared, check);
    } catch (error) {
      prepared.drop();
      throw error;
    }
  }

  /**
   * Applies the next block's changes to the sparse trees. If it fails, nothing of this block is kept.
   *
   * @throws StoreError BLOCK_GAP, BLOCK_CONFLICT, PARENT_MISMATCH, STATE_ROOT_MISMATCH, BLOCK_INVALID, FORMAT_MISMATCH,
   *   TREE_FULL, WRITE_FAILED, and the errors of reading
   */
  async prepare(block: BlockDifference): Promise<PreparedBlock> {
    this.checkHeader(block);
    const {state} = this;
    const {accounts} = state;
    const undo = this.batch.begin();
    const drop = (): void => {
      undo();
      state.accounts = accounts;
    };
    try {
      if (state instanceof TrieChanges) {
        state.check(block, this.trie);
        return {block, tree: undefined, resets: [], drop};
      }
      const tree = await state.applyAccounts(this.tip?.accounts, block);
      const root = tree.topRoot();
      requireRoot(block, root);
      return {block, tree: {root, accounts: tree.seal()}, resets: state.resets, drop};
    } catch (error) {
      drop();
      throw error;
    }
  }

  /** @throws StoreError STATE_ROOT_MISMATCH in a store without sparse trees; then drop the block */
  commit(
    {block, tree}: PreparedBlock,
    {isVerified = true, trie, hasOpenResets, changes}: BlockCheck = {},
  ): void {
    const {header, expectedStateRoot, slice} = block;
    const {number} = header;
    const isMissed = slice === "missed";
    const stateRoot = tree?.root ?? trie?.root ?? (isMissed ? header.stateRoot : undefined);
    if (stateRoot === undefined) throw new Error(`block ${number} has no state trie`);
    if (tree === undefined) requireRoot(block, stateRoot);
    if (this.tip === undefined) this.putFirst(block);
    if (slice !== undefined && !isMissed) this.putSlice(number, slice);
    const record = {header, stateRoot, accounts: tree?.accounts ?? NO_TREE, trie};
    this.batch.putBlock(record, isMissed);
    this.tip = record;
    this.putVerified(isVerified, number);
    if (changes !== undefined) this.batch.put(placeOfChanges(number), encodeKept(header.hash, changes));
    if (expectedStateRoot !== undefined) this.putOpenResets(undefined);
    else if (hasOpenResets === true) this.putOpenResets({from: this.openResets?.from ?? number, to: number});
  }

  /** Marks blocks up to `block` as finalized, including later ones. A lower number changes nothing. */
  markFinalized(block: number): void {
    if (block <= this.finalized) return;
    this.finalized = Math.min(block, MAX_U48);
    this.batch.put(META.finalized, encodeNumber(this.finalized));
  }

  /** The block must be stored, flushed or not. @throws StoreError BLOCK_UNKNOWN, FINALITY_CONFLICT for another hash */
  finalizeStored(block: number, hash?: Uint8Array): void {
    const {latest} = this;
    if (latest === undefined || block > latest) {
      const newest = latest === undefined ? "the store is empty" : `the newest block is ${latest}`;
      throw new StoreError("BLOCK_UNKNOWN", `block ${block} is not in the store: ${newest}`);
    }
    const stored = hash === undefined ? undefined : this.blockHash(block);
    if (hash !== undefined && stored !== undefined && Buffer.compare(stored, hash) !== 0)
      throw new StoreError(
        "FINALITY_CONFLICT",
        `block ${block} is to be finalized with hash ${toHex(hash)}, but the store has ${toHex(stored)}`,
      );
    this.markFinalized(block);
  }

  /** All applied blocks must be flushed. @throws StoreError BLOCK_UNKNOWN, FINALITY_CONFLICT: nothing is recorded */
  recordFinality(step: FinalityStep): void {
    const last = step.events.at(-1);
    const verified = putFinalityStep(this.reader, this.batch, step);
    if (last === undefined) return;
    this.markFinalized(last.endBlock);
    if (verified === undefined) return;
    this.putVerified(true, verified);
    this.putOpenResets(openAfter(this.openResets, verified));
  }

  get trie(): BlockTrie | undefined {
    return this.tip?.trie;
  }

  /** The hash of a block in the store, flushed or not, or of one before its first block that is known. */
  blockHash(block: number): Uint8Array | undefined {
    if (block === this.latest) return this.newest?.hash;
    const body = this.batch.pendingRecord(blockKey(block)) ?? this.batch.pendingRecord(prunedKey(block));
    return body === undefined ? this.reader.readBlockHash(block) : hashOfBlockRecord(body);
  }

  /** Makes all applied blocks durable and visible. @throws StoreError WRITE_FAILED */
  flush(): Promise<void> {
    return this.batch.flush();
  }

  private putFirst({header: {number}, chain = {}, first}: BlockDifference): void {
    this.batch.put(META.chain, encodeChain({...chain, first}));
    this.pendingChain = {...chain, first};
    if (first !== undefined) this.batch.put(META.earliest, encodeNumber(number));
  }

  private putSlice(block: number, {contracts}: SliceBlock): void {
    const body = encodeSlice(sliceAfter(this.slice ?? [], block, contracts));
    if (this.slice === undefined || !body.equals(encodeSlice(this.slice))) this.batch.put(SLICE, body);
    this.slice = decodeSlice(body);
  }

  /** Marks the blocks up to `block` as verified, or this one as unverified. */
  private putVerified(isVerified: boolean, block: number): void {
    const before = this.firstUnverified;
    if (!isVerified) this.firstUnverified = Math.min(before, block);
    else if (before <= block) this.firstUnverified = block < (this.latest ?? -1) ? block + 1 : MAX_U48;
    if (this.firstUnverified !== before) this.batch.put(META.unverified, encodeNumber(this.firstUnverified));
  }

  private putOpenResets(resets: OpenResets | undefined): void {
    const body = encodeOpenResets(resets);
    if (!body.equals(encodeOpenResets(this.openResets))) this.batch.put(OPEN_RESETS, body);
    this.openResets = resets;
  }

  private checkHeader({header, first, slice}: BlockDifference): void {
    if (this.tip !== undefined && (slice === undefined) !== (this.slice === undefined)) {
      const [has, given] =
        slice === undefined ? ["slices", "the whole chain"] : ["the whole chain", "slices"];
      throw new StoreError(
        "BLOCK_INVALID",
        `block ${header.number}: the store has ${has}, and the block is from a source of ${given}`,
      );
    }
    encodeFields(header); // throws if a field does not fit the record
    requireHash(header);
    const {number, hash, parentHash} = header;
    if (this.isStored({...header, first}))
      throw new StoreError("BLOCK_CONFLICT", `block ${number} is already in the store`);
    const sameHash = this.findBlock(hash);
    if (sameHash !== undefined)
      throw new StoreError(
        "BLOCK_INVALID",
        `block ${number} has the hash of block ${sameHash}: ${toHex(hash)}`,
      );
    const parent = this.newest;
    if (parent !== undefined && parentHash !== undefined && Buffer.compare(parentHash, parent.hash) !== 0)
      throw new StoreError(
        "PARENT_MISMATCH",
        `block ${number} (${toHex(hash)}) has parent ${toHex(parentHash)}, but block ${parent.number} is ${toHex(parent.hash)}`,
      );
  }

  private findBlock(hash: Uint8Array): number | undefined {
    const key = hashKey(hash);
    const pending = this.batch.pendingRecord(key);
    return pending === undefined ? this.reader.findBlock(hash) : decodeNumber(key, pending);
  }
}

/** @throws StoreError STATE_ROOT_MISMATCH */
function requireRoot({header, expectedStateRoot}: BlockDifference, root: Uint8Array): void {
  if (expectedStateRoot === undefined || Buffer.compare(expectedStateRoot, root) === 0) return;
  throw new StoreError(
    "STATE_ROOT_MISMATCH",
    `block ${header.number}: expected state root ${toHex(expectedStateRoot)}, its changes give ${toHex(root)}`,
  );
}
