/**
 * Writes blocks: checks that a block follows the newest one, applies its changes to the trees, and writes its record last.
 *
 * A store has one writer at a time. `flush` makes blocks durable and visible. A refused block leaves nothing behind.
 */
import type {BlockDifference, BlockHeader, ChainConfig} from "../block/blockDifference.ts";
import {type BlockRecord, encodeFields, hashOfBlockRecord} from "../block/blockRecord.ts";
import type {BlockTrie} from "../block/blockTrie.ts";
import {encodeChain} from "../block/format.ts";
import {requireHash} from "../block/headerRlp.ts";
import {encodeKept, placeOfChanges} from "../block/keptChanges.ts";
import {encodeOpenResets, type OpenResets, openAfter} from "../block/openResets.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";
import type {PageWriter} from "../page/pages.ts";
import {blockKey, codeKey, hashKey, MAX_U48, META, OPEN_RESETS} from "../record/layout.ts";
import {decodeNumber, encodeNumber} from "../record/recordBody.ts";
import {NO_TREE, type TreeRoot} from "../tree/treeRoot.ts";
import {type FinalityStep, putFinalityStep} from "./finalityStep.ts";
import {type AccountReset, StateWriter} from "./stateWriter.ts";
import type {TreeWriter} from "./treeWriter.ts";
import {TrieChanges} from "./trieChanges.ts";
import {WriteBatch, type WriteTarget} from "./writeBatch.ts";

/** The newest block, flushed or not. */
interface Tip {
  readonly header: BlockHeader;
  readonly accounts: TreeRoot;
  readonly trie: BlockTrie | undefined;
}

/** What the caller finds out about a block whose changes are applied. */
export interface BlockCheck {
  /** A root vouches for the state after the block, and so for what all blocks up to this one changed. */
  readonly isVerified: boolean;
  /** The state trie after the block, if its pages were put. */
  readonly trie: BlockTrie | undefined;
  /** Nothing but the word of the source shows that accounts were removed and made again. */
  readonly hasOpenResets?: boolean;
}

/** Of a block whose source is believed. */
const VOUCHED: BlockCheck = {isVerified: true, trie: undefined};

export class BlockWriter {
  private readonly reader: StateReader;
  private readonly batch: WriteBatch;
  /** TrieChanges: the store has no sparse trees. */
  private readonly state: StateWriter | TrieChanges;
  private finalized: number;
  private firstUnverified: number;
  private openResets: OpenResets | undefined;
  /** That of block 0, applied and perhaps not flushed. */
  private pendingChain: ChainConfig | undefined;

  private constructor(
    target: WriteTarget,
    nextPage: number,
    private tip: Tip | undefined,
  ) {
    const {reader} = target;
    this.reader = reader;
    this.batch = new WriteBatch(target, nextPage);
    this.state = reader.hasTrees ? new StateWriter(reader, this.batch) : new TrieChanges(this.batch);
    this.finalized = reader.readFinalized() ?? -1;
    this.firstUnverified = reader.readUnverified();
    this.openResets = reader.readOpenResets();
  }

  static async create(target: WriteTarget): Promise<BlockWriter> {
    const {reader} = target;
    const latest = await reader.latest();
    let tip: Tip | undefined;
    if (latest !== undefined) {
      tip = reader.blockOrThrow(latest);
    }
    return new BlockWriter(target, await reader.nextPage(), tip);
  }

  /** Number of accounts that the applied blocks changed, since the writer was created. */
  get accounts(): number {
    return this.state.accounts;
  }

  /** The number of the newest block applied, flushed or not. */
  get latest(): number | undefined {
    return this.tip?.header.number;
  }

  /** The block that the store begins with. */
  get firstBlock(): number {
    return this.reader.firstBlock;
  }

  /** The header of the newest block applied. */
  get newest(): BlockHeader | undefined {
    return this.tip?.header;
  }

  /** Blocks up to this one are finalized, flushed or not, held or not; -1 for none. */
  get finalizedTo(): number {
    return this.finalized;
  }

  /** Would a flush write anything? */
  get hasPending(): boolean {
    return this.batch.hasPending;
  }

  /** The chain configuration from the first block, flushed or not. undefined before it. */
  get chain(): ChainConfig | undefined {
    return this.pendingChain ?? this.reader.readChain();
  }

  /** Has the batch grown large enough to flush? */
  get isFull(): boolean {
    return this.batch.isFull;
  }

  /** Bytes given to LevelDB so far. */
  get bytesWritten(): number {
    return this.batch.bytesWritten;
  }

  /**
   * Is this block in the store already, or before the first one of the store?
   *
   * @throws StoreError BLOCK_CONFLICT if the store has another block with its number, BLOCK_GAP if it does not follow the
   *   newest block
   */
  isHeld({number, hash}: {readonly number: number; readonly hash: Uint8Array}): boolean {
    const expected = (this.latest ?? -1) + 1;
    if (number === expected) return false;
    if (number > expected)
      throw new StoreError("BLOCK_GAP", `expected block ${expected} next, got block ${number}`);
    const held = this.blockHash(number);
    if (held === undefined && number < this.reader.firstBlock) return true;
    if (held === undefined)
      throw new StoreError("RECORD_MISSING", `record of block ${number} is not in the store`);
    if (Buffer.compare(held, hash) !== 0)
      throw new StoreError(
        "BLOCK_CONFLICT",
        `block ${number} has hash ${toHex(hash)}, but ${toHex(held)} is held`,
      );
    return true;
  }

  /**
   * Applies the next block. If it fails, nothing of this block is kept. Blocks applied before it stay and can be flushed.
   *
   * @param check - called once the block's changes are applied, with the accounts that were removed and made again. If it throws, the
   *   block is refused
   * @throws StoreError BLOCK_GAP, BLOCK_CONFLICT, PARENT_MISMATCH, STATE_ROOT_MISMATCH, BLOCK_INVALID, FORMAT_MISMATCH,
   *   TREE_FULL, WRITE_FAILED, and the errors of reading
   */
  async apply(
    block: BlockDifference,
    check: (resets: readonly AccountReset[]) => Promise<BlockCheck> = async () => VOUCHED,
  ): Promise<void> {
    const {header} = block;
    this.checkHeader(header);
    const drop = this.batch.begin();
    const {firstUnverified, openResets, accounts, state} = this;
    try {
      const tree = await this.applyToTrees(block);
      const {isVerified, trie, hasOpenResets} = await check(state instanceof StateWriter ? state.resets : []);
      this.putVerified(isVerified, header.number);
      if (block.expectedStateRoot !== undefined) this.putOpenResets(undefined);
      else if (hasOpenResets === true)
        this.putOpenResets({from: openResets?.from ?? header.number, to: header.number});
      if (tree !== undefined)
        this.putBlock(block, {header, stateRoot: tree.topRoot(), accounts: tree.seal(), trie});
      else this.putTrieBlock(block, trie);
    } catch (error) {
      drop();
      this.firstUnverified = firstUnverified;
      this.openResets = openResets;
      state.accounts = accounts;
      throw error;
    }
  }

  /** Marks blocks up to `block` as finalized on layer 1, including blocks that come later. A lower number changes nothing. */
  markFinalized(block: number): void {
    if (block <= this.finalized) return;
    this.finalized = Math.min(block, MAX_U48);
    this.batch.put(META.finalized, encodeNumber(this.finalized));
  }

  /**
   * Marks blocks up to `block` as finalized, if the store has that block, flushed or not.
   *
   * @throws StoreError BLOCK_UNKNOWN for a block that is not in the store yet. From an operator that is a mistake; a source
   *   of blocks may know such a number in advance (markFinalized). FINALITY_CONFLICT if its hash is another one
   */
  finalizeHeld(block: number, hash?: Uint8Array): void {
    const {latest} = this;
    if (latest === undefined || block > latest) {
      const newest = latest === undefined ? "the store holds no block" : `the newest block held is ${latest}`;
      throw new StoreError("BLOCK_UNKNOWN", `block ${block} is not held: ${newest}`);
    }
    const held = hash === undefined ? undefined : this.blockHash(block);
    if (hash !== undefined && held !== undefined && Buffer.compare(held, hash) !== 0)
      throw new StoreError(
        "FINALITY_CONFLICT",
        `block ${block} is to be finalized with hash ${toHex(hash)}, but ${toHex(held)} is held`,
      );
    this.markFinalized(block);
  }

  /**
   * Records what layer 1 finalized, how far it was read, and marks those blocks as finalized. Call it only when all applied
   * blocks are flushed.
   *
   * @throws StoreError BLOCK_UNKNOWN, FINALITY_CONFLICT (finalityStep.ts): nothing is recorded
   */
  recordFinality(step: FinalityStep): void {
    const last = step.events.at(-1);
    const vouched = putFinalityStep(this.reader, this.batch, step);
    if (last === undefined) return;
    this.markFinalized(last.endBlock);
    if (vouched === undefined) return;
    this.putVerified(true, vouched);
    this.putOpenResets(openAfter(this.openResets, vouched));
  }

  /** Keeps what the newest block applied has changed, with the block. */
  keepChanges(changes: Uint8Array): void {
    const {newest} = this;
    if (newest !== undefined) this.batch.put(placeOfChanges(newest.number), encodeKept(newest.hash, changes));
  }

  /** Where the pages of the next block's state trie are put, before the block is applied. */
  get pages(): PageWriter & Pick<WriteBatch, "begin"> {
    return this.batch;
  }

  /** The state trie of the newest block applied; undefined: the store does not hold it. */
  get trie(): BlockTrie | undefined {
    return this.tip?.trie;
  }

  /** Finds a code also if it is not flushed yet. @param hash - keccak256. @throws StoreError RECORD_DAMAGED */
  findCode(hash: Uint8Array): Uint8Array | undefined {
    return this.batch.pendingRecord(codeKey(hash)) ?? this.reader.findCode(hash);
  }

  putCode(hash: Uint8Array, code: Uint8Array): void {
    if (this.findCode(hash) === undefined) this.batch.put(codeKey(hash), code);
  }

  /** The hash of a block in the store, flushed or not, or of one before its first block that is known. */
  blockHash(block: number): Uint8Array | undefined {
    if (block === this.latest) return this.newest?.hash;
    const body = this.batch.pendingRecord(blockKey(block));
    return body === undefined ? this.reader.readBlockHash(block) : hashOfBlockRecord(body);
  }

  /** Makes all applied blocks durable and visible. @throws StoreError WRITE_FAILED */
  flush(): Promise<void> {
    return this.batch.flush(this.latest);
  }

  /** A root vouches for the blocks up to `block`, or else nothing does for this one. */
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

  private checkHeader(header: BlockHeader): void {
    encodeFields(header); // refuses what the record has no room for
    requireHash(header);
    const {number, hash, parentHash} = header;
    if (this.isHeld(header)) throw new StoreError("BLOCK_CONFLICT", `block ${number} is held already`);
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

  /** Finds a block also if it is not flushed yet. */
  private findBlock(hash: Uint8Array): number | undefined {
    const key = hashKey(hash);
    const pending = this.batch.pendingRecord(key);
    return pending === undefined ? this.reader.findBlock(hash) : decodeNumber(key, pending);
  }

  /** @returns the account tree; undefined in a store without sparse trees, where its changes are checked only */
  private async applyToTrees(block: BlockDifference): Promise<TreeWriter | undefined> {
    const {state} = this;
    if (state instanceof TrieChanges) {
      state.check(block, this.trie);
      return undefined;
    }
    const tree = await state.applyAccounts(this.tip?.accounts, block);
    requireRoot(block, tree.topRoot());
    return tree;
  }

  private putTrieBlock(block: BlockDifference, trie: BlockTrie | undefined): void {
    const {header} = block;
    if (trie === undefined) throw new Error(`block ${header.number} has no state trie`);
    requireRoot(block, trie.root);
    this.putBlock(block, {header, stateRoot: trie.root, accounts: NO_TREE, trie});
  }

  private putBlock({chain}: BlockDifference, block: Omit<BlockRecord, "nextPage">): void {
    if (block.header.number === 0) {
      this.pendingChain = chain ?? {};
      this.batch.put(META.chain, encodeChain(this.pendingChain));
    }
    this.batch.putBlock(block);
    this.tip = block;
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
