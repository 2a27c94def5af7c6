/**
 * The messages of a feed (docs/feed.md). Integers are big-endian.
 *
 *   "PFD" | version u8 = 1 | kind u8 | suite u8 | chain id u64 | body
 *
 *   kind 1, block       number u48 | hash 32 | parent hash 32 | state root 32 | verified u8 | part u16 | parts u16 | unpacked bytes u32 | piece
 *   kind 2, rollback    number u48 | hash 32                            of the block that stays the newest
 *   kind 3, finality    finalized u48 | hash 32 | layer-1 part          as much of layer 1 as is recorded (finalityBytes.ts)
 *
 * The pieces of all parts of a block, one after the other, are its changes (differenceBytes.ts), compressed by raw DEFLATE. A block with
 * part 0 begins anew: what came of it before is dropped.
 */
import {deflateRawSync, inflateRawSync} from "node:zlib";
import {StoreError} from "../../storage/errors.ts";
import {SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {BodyReader, encodeNumber} from "../../storage/record/recordBody.ts";
import {FeedError} from "./feedError.ts";

export interface FeedChain {
  readonly suite: string;
  /** 0 <= chainId < 2^64; 0: the chain has no id. */
  readonly chainId: bigint;
}

export interface BlockHead {
  readonly number: number;
  /** 32 bytes each. Without a parent in the header, the hash of the block before. Block 0 has zeros. */
  readonly hash: Uint8Array;
  readonly parentHash: Uint8Array;
  readonly stateRoot: Uint8Array;
  /** Does a root vouch for the state after the block, as far as the publisher knew when it made the message? */
  readonly isVerified: boolean;
}

export interface BlockPart extends BlockHead {
  readonly kind: "block";
  /** 0 <= part < parts. */
  readonly part: number;
  readonly parts: number;
  readonly unpackedBytes: number;
  readonly piece: Buffer;
}

/** The blocks above this one are gone. */
export interface RollbackMessage {
  readonly kind: "rollback";
  readonly number: number;
  readonly hash: Uint8Array;
}

/** Blocks up to this one are finalized. */
export interface FinalityMessage {
  readonly kind: "finality";
  readonly number: number;
  readonly hash: Uint8Array;
  /** finalityBytes.ts. Empty: layer 1 was never read. */
  readonly layer1: Buffer;
}

export type FeedMessage = BlockPart | RollbackMessage | FinalityMessage;

const MAGIC = Buffer.from("PFD");
const VERSION = 1;
const KINDS = ["block", "rollback", "finality"] as const;
const HASH = 32;
/** NATS takes messages of 1 MB by default; half of it leaves room for what a server adds, and for smaller limits. */
export const PIECE_BYTES: number = 512 * 1024;
/** Changes of one block, unpacked: more than any block has but a genesis of many millions of accounts, for which there are snapshots. */
const MAX_UNPACKED_BYTES: number = 256 * 1024 * 1024;

/** @returns the bodies of one or more messages. @throws FeedError for a block that is too large for a feed */
export function encodeBlock(chain: FeedChain, head: BlockHead, difference: Buffer): Buffer[] {
  const {number, hash, parentHash, stateRoot, isVerified} = head;
  if (difference.length > MAX_UNPACKED_BYTES)
    throw new FeedError(
      `block ${number}: expected changes of at most ${MAX_UNPACKED_BYTES} bytes, got ${difference.length}: start replicas from a snapshot after it`,
    );
  // Level 1: the keys and values of a state hardly shrink, and a higher one takes three times as long.
  const packed = deflateRawSync(difference, {level: 1});
  const parts = Math.max(1, Math.ceil(packed.length / PIECE_BYTES));
  return Array.from({length: parts}, (_, part) =>
    Buffer.concat([
      encodeStart(chain, "block"),
      encodeNumber(number),
      ...[hash, parentHash, stateRoot, Buffer.of(isVerified ? 1 : 0)],
      encodeNumber(part, 2),
      encodeNumber(parts, 2),
      encodeNumber(difference.length, 4),
      packed.subarray(part * PIECE_BYTES, (part + 1) * PIECE_BYTES),
    ]),
  );
}

export function encodeRollback(chain: FeedChain, number: number, hash: Uint8Array): Buffer {
  return Buffer.concat([encodeStart(chain, "rollback"), encodeNumber(number), hash]);
}

export function encodeFinality(chain: FeedChain, number: number, hash: Uint8Array, layer1: Buffer): Buffer {
  return Buffer.concat([encodeStart(chain, "finality"), encodeNumber(number), hash, layer1]);
}

/** The bytes of the message are views of `bytes`. @throws FeedError */
export function decodeMessage(chain: FeedChain, bytes: Uint8Array): FeedMessage {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = new BodyReader("the message", body);
  try {
    requireStart(reader);
    const kind = KINDS[reader.number(1) - 1];
    requireChain(chain, reader);
    const [number, hash] = [reader.number(), reader.bytes(HASH)];
    if (kind === "rollback") return reader.end({kind, number, hash});
    if (kind === "finality") return {kind, number, hash, layer1: reader.bytes(reader.left)};
    if (kind === "block") return readPart(reader, number, hash);
    throw new FeedError("the message: its kind is unknown");
  } catch (error) {
    if (error instanceof StoreError) throw new FeedError(error.message);
    throw error;
  }
}

function readPart(reader: BodyReader, number: number, hash: Buffer): BlockPart {
  const [parentHash, stateRoot] = [reader.bytes(HASH), reader.bytes(HASH)];
  const verified = reader.number(1);
  if (verified > 1) throw reader.damage(`its mark of verification is ${verified}`);
  const [part, parts, unpackedBytes] = [reader.number(2), reader.number(2), reader.number(4)];
  const piece = reader.bytes(reader.left);
  if (part >= parts) throw reader.damage(`part ${part} of ${parts}`);
  if (unpackedBytes > MAX_UNPACKED_BYTES)
    throw reader.damage(`expected changes of at most ${MAX_UNPACKED_BYTES} bytes, got ${unpackedBytes}`);
  const isLast = part === parts - 1;
  if (isLast ? piece.length > PIECE_BYTES || piece.length === 0 : piece.length !== PIECE_BYTES)
    throw reader.damage(`part ${part} of ${parts} has ${piece.length} bytes`);
  const head = {number, hash, parentHash, stateRoot, isVerified: verified === 1};
  return {kind: "block", ...head, part, parts, unpackedBytes, piece};
}

/** @param packed - all pieces of a block. @throws FeedError */
export function unpackDifference({number, unpackedBytes}: BlockPart, packed: Buffer): Buffer {
  let unpacked: Buffer;
  try {
    unpacked = inflateRawSync(packed, {maxOutputLength: Math.max(1, unpackedBytes)});
  } catch (error) {
    throw new FeedError(`block ${number}: its changes do not unpack: ${(error as Error).message}`);
  }
  if (unpacked.length === unpackedBytes) return unpacked;
  throw new FeedError(`block ${number}: expected changes of ${unpackedBytes} bytes, got ${unpacked.length}`);
}

function encodeStart({suite, chainId}: FeedChain, kind: FeedMessage["kind"]): Buffer {
  const start = Buffer.alloc(MAGIC.length + 3 + 8);
  start.set(MAGIC);
  start[3] = VERSION;
  start[4] = 1 + KINDS.indexOf(kind);
  start[5] = suiteNumber(suite);
  start.writeBigUInt64BE(chainId, 6);
  return start;
}

function suiteNumber(suite: string): number {
  return 1 + (SUITE_NAMES as readonly string[]).indexOf(suite);
}

function requireStart(reader: BodyReader): void {
  const magic = reader.bytes(MAGIC.length);
  if (Buffer.compare(magic, MAGIC) !== 0) throw new FeedError("the message: it is none of a feed of proofd");
  const version = reader.number(1);
  if (version !== VERSION)
    throw new FeedError(
      `the message: expected version ${VERSION}, got version ${version}: use a newer proofd`,
    );
}

function requireChain(chain: FeedChain, reader: BodyReader): void {
  const suite = reader.number(1);
  if (suite !== suiteNumber(chain.suite))
    throw new FeedError(`the message: expected suite ${chain.suite}, got ${SUITE_NAMES[suite - 1] ?? suite}`);
  const chainId = reader.bigint(8);
  if (chainId !== chain.chainId)
    throw new FeedError(`the message: expected chain ${chain.chainId}, got chain ${chainId}`);
}
