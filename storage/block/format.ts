/**
 * The two records that say what a store holds.
 *
 *   format   {"version": 2, "suite": "sha256"}                        written first of all
 *   chain    {"chainId": "0x..", "config": "{..}"}                    written with block 0
 */
import type {Level} from "level";
import {StoreError} from "../errors.ts";
import type {HashSuite} from "../hash/suite.ts";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../hash/suiteNames.ts";
import {findSuite} from "../hash/suites.ts";
import {damaged, writeFailed} from "../leveldb/levelErrors.ts";
import type {RecordSource} from "../leveldb/recordSource.ts";
import {META} from "../record/layout.ts";
import {openRecord, sealRecord} from "../record/record.ts";
import type {ChainConfig} from "./blockDifference.ts";

/** Raised whenever a change makes older stores unreadable. */
const FORMAT_VERSION = 2;
/** Sorts after every key that begins with a letter or a digit. */
const LAST_KEY = Buffer.alloc(64, 0xff);

/**
 * @param create - write the record if the database is empty
 * @param suite - the hash suite that the caller expects, if it expects one
 * @throws StoreError STORE_MISSING, FORMAT_MISMATCH, RECORD_DAMAGED, STORE_DAMAGED
 */
export async function checkFormat(
  db: Level<Buffer, Buffer>,
  directory: string,
  create: boolean,
  suite: string | undefined,
): Promise<HashSuite> {
  const stored = readFormat(db, directory);
  if (stored === undefined) {
    await refuseUnlessEmpty(db, directory);
    if (!create) throw new StoreError("STORE_MISSING", `${directory} holds no store`);
    return writeFormat(db, suite ?? DEFAULT_SUITE_NAME);
  }
  if (suite !== undefined && stored.name !== suite)
    throw new StoreError("FORMAT_MISMATCH", `${directory} has hash suite ${stored.name}, not ${suite}`);
  return stored;
}

/**
 * @returns the store's hash suite, or undefined if the record is missing
 * @throws StoreError FORMAT_MISMATCH, RECORD_DAMAGED, STORE_DAMAGED
 */
function readFormat(source: RecordSource, directory: string): HashSuite | undefined {
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
      `${directory} has store format ${version}; this proofd reads ${FORMAT_VERSION}: import the chain again into a new directory`,
    );
  return suiteOrThrow(storedSuite);
}

export function encodeChain(chain: ChainConfig): Buffer {
  const {chainId, config} = chain;
  return Buffer.from(
    JSON.stringify({chainId: chainId === undefined ? undefined : `0x${chainId.toString(16)}`, config}),
  );
}

export function decodeChain(body: Buffer): ChainConfig {
  const {chainId, config} = parseRecord<{chainId?: string; config?: string}>("chain", body);
  return {
    ...(chainId === undefined ? {} : {chainId: BigInt(chainId)}),
    ...(config === undefined ? {} : {config}),
  };
}

/** @throws StoreError FORMAT_MISMATCH if `stored` names a chain other than `expected` */
export function checkChainId(stored: ChainConfig | undefined, expected: bigint | undefined): void {
  if (expected !== undefined && stored?.chainId !== undefined && stored.chainId !== expected)
    throw new StoreError("FORMAT_MISMATCH", `the store holds chain ${stored.chainId}, not ${expected}`);
}

/** Like checkFormat, for a source that can only be read. @throws as checkFormat */
export async function requireFormat(source: RecordSource, directory: string): Promise<HashSuite> {
  const stored = readFormat(source, directory);
  if (stored !== undefined) return stored;
  await refuseUnlessEmpty(source, directory);
  throw new StoreError("STORE_MISSING", `${directory} holds no store`);
}

async function refuseUnlessEmpty(source: RecordSource, directory: string): Promise<void> {
  let keys: Buffer[];
  try {
    keys = await source.keys({gte: Buffer.alloc(0), lte: LAST_KEY, reverse: false, limit: 1}).all();
  } catch (error) {
    throw damaged(directory, error);
  }
  if (keys.length > 0)
    throw new StoreError(
      "FORMAT_MISMATCH",
      `${directory} is a LevelDB without proofd's format record: not a proofd store, or damaged`,
    );
}

async function writeFormat(db: Level<Buffer, Buffer>, name: string): Promise<HashSuite> {
  const suite = suiteOrThrow(name);
  const body = Buffer.from(JSON.stringify({version: FORMAT_VERSION, suite: name}));
  try {
    await db.put(META.format, sealRecord(META.format, body), {sync: true});
  } catch (error) {
    throw writeFailed(error);
  }
  return suite;
}

function parseRecord<T>(name: string, body: Buffer): T {
  try {
    return JSON.parse(body.toString()) as T;
  } catch (error) {
    throw new StoreError("RECORD_DAMAGED", `the ${name} record is not JSON`, {cause: error});
  }
}

function suiteOrThrow(name: string): HashSuite {
  const suite = findSuite(name);
  if (suite === undefined)
    throw new StoreError("FORMAT_MISMATCH", `hash suite ${name} is not one of ${SUITE_NAMES.join(", ")}`);
  return suite;
}
