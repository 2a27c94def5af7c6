/**
 * A block's changes as bytes (docs/feed.md), as they were committed: without what their source said of the state
 * before. Integers are big-endian.
 *
 *   packed    unpacked bytes u32 | changes, compressed by raw DEFLATE
 *   changes   header fields, as in a block record (storage/block/blockRecord.ts)
 *             | flags u8: 1 chain id, 2 configuration | [chain id 32] | [length u32, configuration]        block 0 alone has them
 *             | accounts u32 | accounts, each: length u32, entry (storage/block/accountEntry.ts)
 *             | [slice]                  of a store of slices, in place of accounts (sliceBytes.ts)
 */
import {deflateRawSync, inflateRawSync} from "node:zlib";
import type {AccountChange, AccountDifference} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {decodeEntry, encodeEntry} from "../../storage/block/accountEntry.ts";
import type {BlockDifference, ChainConfig} from "../../storage/block/blockDifference.ts";
import {encodeFields, readFields} from "../../storage/block/blockRecord.ts";
import {StoreError} from "../../storage/errors.ts";
import {BodyReader, bigEndian, encodeNumber} from "../../storage/record/recordBody.ts";
import {FeedError} from "./feedError.ts";
import {encodeSliceBlock, readSliceBlock} from "./sliceBytes.ts";

const COUNT_BYTES = 4;
const HAS_CHAIN_ID = 1;
const HAS_CONFIG = 2;
const WORD = 32;
/** More than any block has but a genesis of a million accounts, for which there are snapshots. */
const MAX_UNPACKED_BYTES: number = 64 * 1024 * 1024;

/** What the message says of a block besides its changes. */
interface FedBlock {
  readonly number: number;
  /** 32 bytes each. */
  readonly hash: Uint8Array;
  readonly stateRoot: Uint8Array;
}

/** @returns undefined for changes that are too large for a feed */
export function packChanges(block: BlockDifference): Buffer | undefined {
  const changes = encodeChanges(block);
  if (changes.length > MAX_UNPACKED_BYTES) return undefined;
  // Level 1: the keys and values of a state hardly shrink, and a higher one takes three times as long.
  return Buffer.concat([encodeNumber(changes.length, COUNT_BYTES), deflateRawSync(changes, {level: 1})]);
}

/** What DEFLATE needs at most for this many bytes: their own length, and 5 bytes a block. @throws FeedError */
export function mostPackedBytes(block: number, unpackedBytes: number): number {
  if (unpackedBytes <= MAX_UNPACKED_BYTES) return unpackedBytes + 5 * Math.ceil(unpackedBytes / 16_383) + 64;
  throw new FeedError(
    `block ${block}: expected changes of at most ${MAX_UNPACKED_BYTES} bytes, got ${unpackedBytes}`,
  );
}

/** @param packed - all pieces of the block. @throws FeedError */
export function unpackChanges(block: FedBlock, unpackedBytes: number, packed: Buffer): BlockDifference {
  let unpacked: Buffer;
  try {
    unpacked = inflateRawSync(packed, {maxOutputLength: Math.max(1, unpackedBytes)});
  } catch (error) {
    throw new FeedError(`block ${block.number}: its changes do not unpack: ${(error as Error).message}`);
  }
  if (unpacked.length === unpackedBytes) return decodeChanges(block, unpacked);
  throw new FeedError(
    `block ${block.number}: expected changes of ${unpackedBytes} bytes, got ${unpacked.length}`,
  );
}

function encodeChanges({header, accounts, chain, slice}: BlockDifference): Buffer {
  const entries: Buffer[] = [];
  for (let position = 0; position < accounts.count; position++) {
    const {address, change, onlyRead} = accounts.at(position);
    if (onlyRead === true) continue;
    const entry = encodeEntry({address, change: change && withoutBefore(change)});
    entries.push(encodeNumber(entry.length, COUNT_BYTES), entry);
  }
  const count = encodeNumber(entries.length / 2, COUNT_BYTES);
  const sliced = slice === undefined ? [] : [encodeSliceBlock(slice)];
  return Buffer.concat([encodeFields(header), encodeChainConfig(chain), count, ...entries, ...sliced]);
}

function withoutBefore(change: AccountChange): AccountChange {
  if (change.storage?.some(({before}) => before !== undefined) !== true) return change;
  return {...change, storage: change.storage.map(({slot, value, reset}) => ({slot, value, reset}))};
}

/** @throws FeedError if the bytes are not what `encodeChanges` gives */
function decodeChanges({number, hash, stateRoot}: FedBlock, bytes: Buffer): BlockDifference {
  const reader = new BodyReader(`block ${number}`, bytes);
  try {
    const header = {number, hash, ...readFields(reader)};
    const chain = readChainConfig(reader);
    if (chain !== undefined && number !== 0) throw reader.damage("only block 0 names the chain");
    const accounts = new AccountDifferences();
    for (let count = reader.number(COUNT_BYTES); count > 0; count--)
      addEntry(accounts, reader, reader.bytes(reader.number(COUNT_BYTES)));
    const slice = reader.left === 0 ? undefined : readSliceBlock(reader);
    return reader.end({header, expectedStateRoot: stateRoot, accounts, chain, slice});
  } catch (error) {
    if (error instanceof StoreError) throw new FeedError(error.message);
    throw error;
  }
}

function addEntry(accounts: AccountDifferences, reader: BodyReader, entry: Buffer): void {
  const difference: AccountDifference = decodeEntry(entry);
  if (
    difference.onlyRead === true ||
    difference.before !== undefined ||
    accounts.add(difference) !== entry.length
  )
    throw reader.damage("an account's changes are not in their only form");
}

function encodeChainConfig(chain: ChainConfig = {}): Buffer {
  const {chainId, config} = chain;
  const text = config === undefined ? undefined : Buffer.from(config);
  return Buffer.concat([
    Buffer.of((chainId === undefined ? 0 : HAS_CHAIN_ID) | (text === undefined ? 0 : HAS_CONFIG)),
    ...(chainId === undefined ? [] : [bigEndian(chainId, WORD)]),
    ...(text === undefined ? [] : [encodeNumber(text.length, COUNT_BYTES), text]),
  ]);
}

function readChainConfig(reader: BodyReader): ChainConfig | undefined {
  const flags = reader.number(1);
  if (flags > (HAS_CHAIN_ID | HAS_CONFIG)) throw reader.damage(`unknown flags ${flags}`);
  if (flags === 0) return undefined;
  const chainId = (flags & HAS_CHAIN_ID) === 0 ? undefined : reader.bigint(WORD);
  const config =
    (flags & HAS_CONFIG) === 0 ? undefined : reader.bytes(reader.number(COUNT_BYTES)).toString("utf8");
  return {chainId, config};
}
