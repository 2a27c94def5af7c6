/**
 * A block's changes as bytes, before they are compressed (docs/feed.md). Integers are big-endian.
 *
 *   header fields, as in a block record (storage/block/blockRecord.ts)
 *   | flags u8: 1 chain id, 2 configuration | [chain id 32] | [length u32, configuration]        block 0 alone has them
 *   | accounts u32 | accounts, each: length u32, entry (storage/block/accountEntry.ts)
 *
 * An entry is in its only form: decoded and encoded again, it is the same bytes.
 */
import type {AccountDifference} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {decodeEntry, encodeEntry} from "../../storage/block/accountEntry.ts";
import type {BlockDifference, ChainConfig} from "../../storage/block/blockDifference.ts";
import {encodeFields, readFields} from "../../storage/block/blockRecord.ts";
import {StoreError} from "../../storage/errors.ts";
import {BodyReader, bigEndian, encodeNumber} from "../../storage/record/recordBody.ts";
import {FeedError} from "./feedError.ts";

const COUNT_BYTES = 4;
const HAS_CHAIN_ID = 1;
const HAS_CONFIG = 2;
const WORD = 32;

/** What the message says of a block besides its changes. */
interface FedBlock {
  readonly number: number;
  /** 32 bytes each. */
  readonly hash: Uint8Array;
  readonly stateRoot: Uint8Array;
}

export function encodeDifference({header, accounts, chain}: BlockDifference): Buffer {
  const parts = [encodeFields(header), encodeChainConfig(chain), encodeNumber(accounts.count, COUNT_BYTES)];
  for (let position = 0; position < accounts.count; position++) {
    const entry = encodeEntry(accounts.at(position));
    parts.push(encodeNumber(entry.length, COUNT_BYTES), entry);
  }
  return Buffer.concat(parts);
}

/** @throws FeedError if the bytes are not what `encodeDifference` gives */
export function decodeDifference({number, hash, stateRoot}: FedBlock, bytes: Buffer): BlockDifference {
  const reader = new BodyReader(`block ${number}`, bytes);
  try {
    const header = {number, hash, ...readFields(reader)};
    const chain = readChainConfig(reader);
    if (chain !== undefined && number !== 0) throw reader.damage("only block 0 names the chain");
    const accounts = new AccountDifferences();
    for (let count = reader.number(COUNT_BYTES); count > 0; count--)
      accounts.add(readEntry(reader, reader.bytes(reader.number(COUNT_BYTES))));
    return reader.end({header, expectedStateRoot: stateRoot, accounts, chain});
  } catch (error) {
    if (error instanceof StoreError) throw new FeedError(error.message);
    throw error;
  }
}

function readEntry(reader: BodyReader, entry: Buffer): AccountDifference {
  const difference = decodeEntry(entry);
  if (Buffer.compare(encodeEntry(difference), entry) !== 0)
    throw reader.damage("an account's changes are not in their only form");
  return difference;
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
