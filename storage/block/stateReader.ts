/**
 * Reads a store. A reader takes no lock and never sees half a block: all that it reaches starts at a block record,
 * which is written last and never changes.
 */

import {Pages} from "../cache/pages.ts";
import {PrunedError, StoreError} from "../errors.ts";
import type {HashSuite} from "../hash/suite.ts";
import type {StoreSuite} from "../hash/suites.ts";
import {toHex} from "../hex.ts";
import {damaged} from "../leveldb/levelErrors.ts";
import type {RecordSource} from "../leveldb/recordSource.ts";
import {
  blockKey,
  codeKey,
  FIRST_PAGE,
  hashKey,
  leafKeysKey,
  MAX_U48,
  META,
  nameOfKey,
  numberOfKey,
  OPEN_RESETS,
  prunedKey,
  SLICE,
} from "../record/layout.ts";
import {openRecord} from "../record/record.ts";
import {decodeNumber} from "../record/recordBody.ts";
import {type EmptyTree, emptyTree} from "../tree/emptyTree.ts";
import {KeyHints} from "../tree/keyHints.ts";
import {decodeLeafKeys, type LeafKeys, NO_KEYS} from "../tree/leafKeys.ts";
import {TrieReader} from "../trie/trie.ts";
import type {BlockHeader} from "./blockDifference.ts";
import {type BlockRecord, decodeBlockRecord} from "./blockRecord.ts";
import {Finalizations} from "./finalizations.ts";
import {type ChainRecord, decodeChain} from "./format.ts";
import {changesOfKept, placeOfChanges} from "./keptChanges.ts";
import {decodeOpenResets, type OpenResets} from "./openResets.ts";
import {decodeSlice, type SlicedContract} from "./sliceBlock.ts";

const NO_BYTES = Buffer.alloc(0);

export class StateReader {
  readonly pages: Pages;
  readonly hints: KeyHints;
  readonly finalizations = new Finalizations(this);
  /** The newest block that this reader has seen; -1 for none. It may have been rolled back since. */
  private newestSeen = -1;
  private knownChain: ChainRecord | undefined;
  private madeTries: TrieReader | undefined;

  /** @param hintBytes - for KeyHints, allocated at once */
  constructor(
    private readonly source: RecordSource,
    private readonly storeSuite: StoreSuite,
    {pageBytes, hintBytes}: {readonly pageBytes: number; readonly hintBytes: number},
  ) {
    this.pages = new Pages(source, pageBytes, storeSuite.trees);
    this.hints = new KeyHints(hintBytes);
  }

  get suiteName(): string {
    return this.storeSuite.name;
  }

  /** false: the store has Ethereum's tries only. */
  get hasTrees(): boolean {
    return this.storeSuite.trees !== undefined;
  }

  /** Of the sparse trees. @throws StoreError NO_TREES */
  get suite(): HashSuite {
    const {name, trees} = this.storeSuite;
    if (trees === undefined)
      throw new StoreError(
        "NO_TREES",
        `a store of the suite ${name} has Ethereum's state tries only, no sparse trees`,
      );
    return trees;
  }

  /** @throws StoreError NO_TREES */
  get empty(): EmptyTree {
    return emptyTree(this.suite);
  }

  /** Made when it is first asked for. */
  get tries(): TrieReader {
    this.madeTries ??= new TrieReader(this.pages);
    return this.madeTries;
  }

  /** After a rollback the reader cannot find the newest block from its own reads. */
  noteNewest(block: number): void {
    this.newestSeen = block;
  }

  /** @returns undefined if the store does not have the block, or pruned it. @throws StoreError RECORD_DAMAGED */
  readBlock(block: number): BlockRecord | undefined {
    return this.readBlockRecord(block, blockKey);
  }

  /** For hashes, header and state root: the block may be pruned. @throws StoreError RECORD_DAMAGED */
  readHeaderRecord(block: number): BlockRecord | undefined {
    // In this order: a record moves from the one key to the other, and never back.
    return this.readBlock(block) ?? this.readPruned(block);
  }

  /** As readHeaderRecord. @throws StoreError BLOCK_UNKNOWN, RECORD_DAMAGED; RECORD_MISSING as blockOrThrow */
  headerRecordOrThrow(block: number): BlockRecord {
    return this.readHeaderRecord(block) ?? this.blockOrThrow(block);
  }

  /** @returns undefined for a block that was not pruned. @throws StoreError RECORD_DAMAGED */
  readPruned(block: number): BlockRecord | undefined {
    return this.readBlockRecord(block, prunedKey);
  }

  /** @throws StoreError BLOCK_UNKNOWN; BLOCK_PRUNED; RECORD_MISSING although a later block exists */
  blockOrThrow(block: number): BlockRecord {
    const record = this.readBlock(block);
    if (record !== undefined) {
      if (block > this.newestSeen) this.newestSeen = block;
      return record;
    }
    this.refusePruned(block);
    if (block < this.firstBlock)
      throw new StoreError(
        "BLOCK_UNKNOWN",
        `block ${block} is not in the store, which begins with block ${this.firstBlock}`,
      );
    // A rollback since then would have removed that newer block too.
    if (block < this.newestSeen && this.readBlock(this.newestSeen) !== undefined) {
      // Or an import added both blocks after the first look.
      const second = this.readBlock(block);
      if (second !== undefined) return second;
      throw new StoreError(
        "RECORD_MISSING",
        `record of block ${block} is not in the store, although block ${this.newestSeen} is`,
      );
    }
    throw new StoreError("BLOCK_UNKNOWN", `block ${block} is not in the store`);
  }

  /** If a block is pruned in the middle of a read, its missing pages are no damage. @throws StoreError BLOCK_PRUNED */
  refusePruned(block: number): void {
    const record = this.readPruned(block);
    if (record !== undefined) throw new PrunedError(block, this.isMissed(record));
  }

  /** Is a pruned block one of which a store of slices never had the state? @throws StoreError RECORD_DAMAGED */
  isMissed({trie}: BlockRecord): boolean {
    return trie === undefined && this.readSlice() !== undefined;
  }

  /** @param hash - 32 bytes. @returns the number of the block with this hash, pruned or not */
  findBlock(hash: Uint8Array): number | undefined {
    const key = hashKey(hash);
    const body = this.readRecord(key);
    return body === undefined ? undefined : decodeNumber(key, body);
  }

  /** @throws StoreError RECORD_MISSING */
  readCode(keccakHash: Uint8Array): Buffer {
    const code = this.findCode(keccakHash);
    if (code === undefined)
      throw new StoreError("RECORD_MISSING", `code ${toHex(keccakHash)} is not in the store`);
    return code;
  }

  /** @returns undefined if no code here has this hash. @throws StoreError RECORD_DAMAGED */
  findCode(keccakHash: Uint8Array): Buffer | undefined {
    return this.readRecord(codeKey(keccakHash));
  }

  /** @param owner - 0 for the account tree, else the index of the account's leaf. @throws StoreError RECORD_DAMAGED */
  readLeafKeys(owner: number, page: number): LeafKeys {
    const body = this.readRecord(leafKeysKey(owner, page));
    return body === undefined ? NO_KEYS : decodeLeafKeys(owner, page, body);
  }

  /** @returns undefined if not kept, or overwritten (keptChanges.ts). @throws StoreError RECORD_DAMAGED */
  readChanges({number, hash}: BlockHeader): Buffer | undefined {
    const body = this.readRecord(placeOfChanges(number));
    return body === undefined ? undefined : changesOfKept(body, hash);
  }

  /** undefined until the store has a block. */
  readChain(): ChainRecord | undefined {
    if (this.knownChain === undefined) {
      const body = this.readMark(META.chain);
      const chain = body && decodeChain(body);
      // Slices may begin again at another block.
      if (chain?.first !== undefined && this.isSliced) return chain;
      this.knownChain = chain;
    }
    return this.knownChain;
  }

  /** The block that the store begins with: 0, or that of the pull that it was made from. */
  get firstBlock(): number {
    return this.readChain()?.first?.number ?? 0;
  }

  /** Also of a pruned block, or of an ancestor of the first one that is known. @throws StoreError RECORD_DAMAGED */
  readBlockHash(block: number): Uint8Array | undefined {
    const {number, ancestors} = this.readChain()?.first ?? {number: 0, ancestors: []};
    return block < number ? ancestors[number - 1 - block] : this.readHeaderRecord(block)?.header.hash;
  }

  /** @throws StoreError BLOCK_UNKNOWN; RECORD_MISSING as blockOrThrow; RECORD_DAMAGED */
  blockHashOrThrow(block: number): Uint8Array {
    return this.readBlockHash(block) ?? this.blockOrThrow(block).header.hash;
  }

  /** Blocks up to this number are finalized, including blocks not yet in the store. undefined: none is. */
  readFinalized(): number | undefined {
    const body = this.readMark(META.finalized);
    return body === undefined ? undefined : decodeNumber(META.finalized, body);
  }

  /** The first block to whose state no trusted root commits. MAX_U48: there is none. */
  readUnverified(): number {
    return this.readMarkedNumber(META.unverified);
  }

  /** The blocks with account resets that only their source reports. */
  readOpenResets(): OpenResets | undefined {
    return decodeOpenResets(this.readRecord(OPEN_RESETS));
  }

  /** Does the store have slices? The record of their contracts may be damaged. @throws StoreError STORE_DAMAGED */
  get isSliced(): boolean {
    return this.pages.readValue(SLICE) !== undefined;
  }

  /** The contracts that the store has; undefined: whole tries. @throws StoreError RECORD_DAMAGED */
  readSlice(): readonly SlicedContract[] | undefined {
    const body = this.readRecord(SLICE);
    return body && decodeSlice(body);
  }

  /** The oldest block that is not pruned, once the store has a block. */
  readEarliest(): number {
    return this.readMarkedNumber(META.earliest);
  }

  unprunedFrom(from: number): Promise<number | undefined> {
    return this.edgeOf(blockKey(from), blockKey(MAX_U48), false);
  }

  unprunedBelow(below: number): Promise<number | undefined> {
    if (below === 0) return Promise.resolve(undefined);
    return this.edgeOf(blockKey(0), blockKey(below - 1), true);
  }

  prunedFrom(from: number): Promise<number | undefined> {
    return this.edgeOf(prunedKey(from), prunedKey(MAX_U48), false);
  }

  /** The newest block in the store. It is never pruned. */
  async latest(): Promise<number | undefined> {
    const latest = await this.edgeOf(blockKey(0), blockKey(MAX_U48), true);
    if (latest !== undefined && latest > this.newestSeen) this.newestSeen = latest;
    return latest;
  }

  /** The first page number above those of all blocks. */
  async pagesEnd(): Promise<number> {
    const latest = await this.latest();
    return latest === undefined ? FIRST_PAGE : this.blockOrThrow(latest).nextPage;
  }

  /** The first page number that no page has and that no reader's cache can hold. */
  async nextPage(): Promise<number> {
    return Math.max(await this.pagesEnd(), this.readMarkedNumber(META.floor));
  }

  /** @throws StoreError RECORD_DAMAGED, STORE_DAMAGED */
  readRecord(key: Buffer): Buffer | undefined {
    return this.pages.readRecord(key);
  }

  /** @returns undefined if it says nothing yet. @throws StoreError RECORD_MISSING, RECORD_DAMAGED, STORE_DAMAGED */
  readMark(key: Buffer): Buffer | undefined {
    const body = this.readRecord(key);
    if (body === undefined) throw new StoreError("RECORD_MISSING", `${nameOfKey(key)} is not in the store`);
    return body.length === 0 ? undefined : body;
  }

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED if a record of META is not what was written */
  async requireMarks(): Promise<void> {
    for (const key of Object.values(META)) this.readMark(key);
    const latest = await this.latest();
    if (latest !== undefined && this.readChain() === undefined)
      throw new StoreError(
        "RECORD_MISSING",
        `the chain record is empty, although the store has block ${latest}`,
      );
  }

  private readMarkedNumber(key: Buffer): number {
    return decodeNumber(key, this.readMark(key) ?? NO_BYTES);
  }

  private readBlockRecord(block: number, keyOf: (block: number) => Buffer): BlockRecord | undefined {
    if (block > MAX_U48) return undefined;
    const body = this.readRecord(keyOf(block));
    return body === undefined ? undefined : decodeBlockRecord(block, body);
  }

  /** The block of the first or last record in a range of keys. @throws StoreError RECORD_DAMAGED, STORE_DAMAGED */
  private async edgeOf(gte: Buffer, lte: Buffer, isLast: boolean): Promise<number | undefined> {
    try {
      const [edge] = await this.source.iterator({gte, lte, reverse: isLast, limit: 1}).all();
      if (edge === undefined) return undefined;
      openRecord(...edge); // the checksum shows that the key is the one that was written
      return numberOfKey(edge[0]);
    } catch (error) {
      throw damaged("the block records", error);
    }
  }
}
