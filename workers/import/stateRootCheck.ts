/**
 * Compares the root in a block's header with that of the state trie, to which each block is applied that was not
 * executed here. So an omission or error of a source is found before the block is stored.
 *
 *   parent's trie   header   the block
 *   stored          yes      its root is compared. A block 0 with a header begins the trie
 *   stored          no       is applied, so that the next block with a header can be compared
 *   missing                  is stored without a check
 *
 * Without the trie or the header, the block is "unverified". A store without sparse trees always has the trie.
 */

import {SourceError} from "../../nodes/blocks/sourceStep.ts";
import type {BlockDifference, BlockHeader} from "../../storage/block/blockDifference.ts";
import type {BlockTrie} from "../../storage/block/blockTrie.ts";
import type {SliceBlock} from "../../storage/block/sliceBlock.ts";
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {SliceTrie} from "../../storage/commit/sliceTrie.ts";
import {StateTrie} from "../../storage/commit/stateTrie.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";

/** The block's changes do not give the root of its header, or are impossible. */
export class ChangesRefused extends SourceError {}

export interface CheckedBlock {
  readonly why: string | undefined;
  readonly trie: BlockTrie | undefined;
  /** Contracts of a slice of which more slots changed than the source names (0x text). */
  readonly incomplete?: readonly string[] | undefined;
}

export class StateRootCheck {
  /** After the last block. */
  private last: StateTrie | undefined;
  private slices: SliceTrie | undefined;

  constructor(
    private readonly writer: BlockWriter,
    private readonly hasTrees: boolean,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Call it between `prepare` and `commit`. @param origin - what gave the changes, for messages
   *
   * @returns the block's trie, and why it is unverified. @throws ChangesRefused naming the block and both roots
   */
  async apply({header, accounts, slice}: BlockDifference, origin: string): Promise<CheckedBlock> {
    const {number, stateRoot: headerRoot} = header;
    if (slice === "missed") return {why: undefined, trie: undefined};
    if (slice !== undefined) return this.applySlice(header, slice, origin);
    const trie = this.openParent(headerRoot);
    this.last = undefined;
    if (trie === undefined) return {why: "the store does not have the state trie", trie};
    const check = (given: Uint8Array): void => {
      if (headerRoot === undefined || Buffer.compare(given, headerRoot) === 0) return;
      throw new ChangesRefused(
        `block ${number}: expected state root ${toHex(headerRoot)} as in its header, its changes give ${toHex(given)}: ` +
          `${origin} leaves out a change of this block, or has a wrong value. Nothing of the block is stored. ` +
          "Another kind of node or another source may have it",
      );
    };
    const root = await trie.apply(accounts, check, this.signal);
    this.last = trie;
    const why = headerRoot === undefined ? "its source gives no header" : undefined;
    return {why, trie: {...root, isExecuted: false}};
  }

  private async applySlice(
    {number, stateRoot}: BlockHeader,
    slice: SliceBlock,
    origin: string,
  ): Promise<CheckedBlock> {
    if (stateRoot === undefined) throw new Error(`block ${number} of a slice has no header`);
    this.slices ??= new SliceTrie(this.writer.batch);
    try {
      const {trie, incomplete} = await this.slices.apply(this.writer.trie, {number, stateRoot}, slice);
      return {why: undefined, trie: {...trie, isExecuted: false}, incomplete};
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "SLICE_INVALID")) throw error;
      throw new ChangesRefused(`${error.message}: ${origin} is incomplete. Nothing of the block is stored`);
    }
  }

  /** @returns undefined if the store does not have the trie of the newest block */
  private openParent(headerRoot: Uint8Array | undefined): StateTrie | undefined {
    const {latest, trie} = this.writer;
    if (this.hasTrees && (latest === undefined ? headerRoot : trie) === undefined) return undefined;
    // Page numbers are never reused, not even after a rollback.
    if (this.last !== undefined && this.last.newest.page === trie?.page) return this.last;
    return new StateTrie(this.writer.batch, trie);
  }
}
