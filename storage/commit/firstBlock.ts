/** The first block of a store that begins with the full state of a block. */
import type {BlockHeader, ChainConfig} from "../block/blockDifference.ts";
import {type BlockRecord, encodeFields} from "../block/blockRecord.ts";
import {encodeChain} from "../block/format.ts";
import {requireHash} from "../block/headerRlp.ts";
import {StoreError} from "../errors.ts";
import {META} from "../record/layout.ts";
import {encodeNumber} from "../record/recordBody.ts";
import type {WriteBatch, WriteTarget} from "./writeBatch.ts";

/** The EVM's BLOCKHASH can ask for this many. */
export const MAX_ANCESTORS = 256;

export interface BuiltBlock {
  readonly header: BlockHeader;
  /** 32 bytes: the block is refused unless its state gives this root. */
  readonly stateRoot: Uint8Array;
  readonly chain: ChainConfig;
  /** Hashes of the blocks before this one, newest first, 32 bytes each: at most 256. */
  readonly ancestors: readonly Uint8Array[];
}

/** @throws StoreError BLOCK_CONFLICT if the store has blocks, BLOCK_INVALID */
export async function requireFirst({reader}: WriteTarget, {header, ancestors}: BuiltBlock): Promise<void> {
  const latest = await reader.latest();
  if (latest !== undefined)
    throw new StoreError(
      "BLOCK_CONFLICT",
      `the store has blocks up to ${latest}: only an empty store can start from a full state`,
    );
  if (ancestors.length > Math.min(MAX_ANCESTORS, header.number))
    throw new StoreError("BLOCK_INVALID", `block ${header.number}: ${ancestors.length} blocks before it`);
  encodeFields(header); // throws if a field does not fit the record
  requireHash(header);
}

/** Writes the block, which is finalized: its root was given. @throws StoreError WRITE_FAILED */
export async function writeFirstBlock(
  batch: WriteBatch,
  {header, stateRoot, chain, ancestors}: BuiltBlock,
  trees: Pick<BlockRecord, "accounts" | "trie">,
): Promise<void> {
  const {number} = header;
  const first = number === 0 ? undefined : {number, ancestors};
  batch.put(META.chain, encodeChain({...chain, first}));
  batch.put(META.earliest, encodeNumber(number));
  batch.put(META.finalized, encodeNumber(number));
  batch.putBlock({header, stateRoot, ...trees});
  await batch.flush();
}
