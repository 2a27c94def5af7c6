/**
 * The first records of a new store, and the two of them that are JSON.
 *
 *   format   {"version": 6, "suite": "sha256"}                        never changes; "keccak": no sparse trees
 *   chain    {"chainId": "0x..", "config": "{..}", "first": {..}}     empty before the first block
 *   first    {"number": 100, "ancestors": "0x.."}                     only in a store that does not begin with block 0
 */
import type {Level} from "level";
import {requireAcknowledged} from "../directory/acknowledgedNote.ts";
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {DEFAULT_SUITE_NAME, STORE_SUITE_NAMES} from "../hash/suiteNames.ts";
import {findSuite, type StoreSuite} from "../hash/suites.ts";
import {toHex} from "../hex.ts";
import {damaged, writeSynced} from "../leveldb/levelErrors.ts";
import type {RecordSource} from "../leveldb/recordSource.ts";
import {FIRST_PAGE, MAX_U48, META} from "../record/layout.ts";
import {openRecord, sealRecord} from "../record/record.ts";
import {encodeNumber} from "../record/recordBody.ts";
import type {ChainConfig, FirstBlock} from "./blockDifference.ts";

/** Raised whenever a change makes stores unreadable for older releases. */
const FORMAT_VERSION = 6;
/** Sorts after every key that begins with a letter or a digit. */
const LAST_KEY = Buffer.alloc(64, 0xff);

const FIRST_MARKS: readonly (readonly [key: Buffer, body: Buffer])[] = [
  [META.chain, Buffer.alloc(0)],
  [META.finalized, Buffer.alloc(0)],
  [META.layer1, Buffer.alloc(0)],
  [META.pruning, Buffer.alloc(0)],
  [META.earliest, encodeNumber(0)],
  [META.floor, encodeNumber(FIRST_PAGE)],
  [META.unverified, encodeNumber(MAX_U48)],
];

/** @throws StoreError FORMAT_MISMATCH if the database is not empty, STORE_DAMAGED if it should not be, WRITE_FAILED */
export async function makeFormat(
  db: Level<Buffer, Buffer>,
  directory: string,
  suite: string = DEFAULT_SUITE_NAME,
): Promise<StoreSuite> {
  await refuseUnlessEmpty(db, directory);
  // A note of blocks shows that this is no new store.
  await requireAcknowledged(directory, undefined);
  const found = suiteOrThrow(suite);
  const batch = db.batch();
  const format = Buffer.from(JSON.stringify({version: FORMAT_VERSION, suite}));
  for (const [key, body] of [[META.format, format] as const, ...FIRST_MARKS])
    batch.put(key, sealRecord(key, body));
  await writeSynced(batch);
  return found;
}

/** @throws StoreError STORE_MISSING if the database is empty, FORMAT_MISMATCH, RECORD_DAMAGED, STORE_DAMAGED */
export async function requireFormat(source: RecordSource, directory: string): Promise<StoreSuite> {
  const stored = readFormat(source, directory);
  if (stored !== undefined) return stored;
  await refuseUnlessEmpty(source, directory);
  throw new StoreError("STORE_MISSING", `${directory} holds no store`);
}

/** @returns undefined if the record is missing. @throws StoreError FORMAT_MISMATCH, RECORD_DAMAGED, STORE_DAMAGED */
export function readFormat(source: RecordSource, directory: string): StoreSuite | undefined {
  let value: Buffer | undefined;
  try {
    value = source.getSync(META.format);
  } catch (error) {
    throw damaged(directory, error);
  }
  if (value === undefined) return undefined;
  const {version, suite: storedSuite} = parseRecord<{version: number; suite: string}>(
    "format",
    openRecord(META.format, value),
  );
  if (version !== FORMAT_VERSION)
    throw new StoreError(
      "FORMAT_MISMATCH",
      `${directory} has store format ${version}; this proofd reads format ${FORMAT_VERSION}: use the release that wrote it, or import the chain again into a new directory`,
    );
  return suiteOrThrow(storedSuite);
}

export interface ChainRecord extends ChainConfig {
  readonly first?: FirstBlock | undefined;
}

interface ChainJson {
  readonly chainId: string | undefined;
  readonly config: string | undefined;
  readonly first: {readonly number: number; readonly ancestors: string} | undefined;
}

export function encodeChain({chainId, config, first}: ChainRecord): Buffer {
  const json: ChainJson = {
    chainId: chainId === undefined ? undefined : `0x${chainId.toString(16)}`,
    config,
    first: first && {number: first.number, ancestors: toHex(Buffer.concat(first.ancestors))},
  };
  return Buffer.from(JSON.stringify(json));
}

export function decodeChain(body: Buffer): ChainRecord {
  const {chainId, config, first} = parseRecord<ChainJson>("chain", body);
  return {
    chainId: chainId === undefined ? undefined : BigInt(chainId),
    config,
    first: first && {number: first.number, ancestors: splitWords(first.ancestors)},
  };
}

function splitWords(text: string): readonly Uint8Array[] {
  const bytes = Buffer.from(text.slice(2), "hex");
  return Array.from({length: bytes.length / WORD_BYTES}, (_, i) =>
    bytes.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES),
  );
}

export function checkChainId(stored: ChainConfig | undefined, expected: bigint | undefined): void {
  if (expected !== undefined && stored?.chainId !== undefined && stored.chainId !== expected)
    throw new StoreError(
      "FORMAT_MISMATCH",
      `the store: expected chain ${expected}, got chain ${stored.chainId}`,
    );
}

async function refuseUnlessEmpty(source: RecordSource, directory: string): Promise<void> {
  let records: unknown[];
  try {
    records = await source.iterator({gte: Buffer.alloc(0), lte: LAST_KEY, reverse: false, limit: 1}).all();
  } catch (error) {
    throw damaged(directory, error);
  }
  if (records.length > 0)
    throw new StoreError(
      "FORMAT_MISMATCH",
      `${directory} is a LevelDB without proofd's format record: not a proofd store, or damaged`,
    );
}

function parseRecord<T>(name: string, body: Buffer): T {
  try {
    return JSON.parse(body.toString()) as T;
  } catch (error) {
    throw new StoreError("RECORD_DAMAGED", `the ${name} record is not JSON`, {cause: error});
  }
}

function suiteOrThrow(name: string): StoreSuite {
  const suite = findSuite(name);
  if (suite === undefined)
    throw new StoreError("FORMAT_MISMATCH", `suite ${name} is not one of ${STORE_SUITE_NAMES.join(", ")}`);
  return suite;
}
