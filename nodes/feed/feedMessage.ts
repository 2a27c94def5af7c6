/**
 * The messages of a feed (docs/feed.md): a head in the header `Proofd` of a NATS message, as base64, and a body. So
 * heads can be read without bodies. Integers are big-endian.
 *
 *   head    "PFD" | version u8 = 2 | kind u8 | suite u8 | chain id u64 | publisher 16 | number u48 | hash 32 | by kind
 *
 *   kind 1, block       parent hash 32 | state root 32 | verified u8 | part u16 | parts u16 | unpacked bytes u32      body: a piece of its changes
 *   kind 2, finality    first u48 | count u48                       body: as much of layer 1 as is recorded (finalityBytes.ts)
 *
 * The pieces of all parts of a block, one after the other, are its changes (blockChanges.ts), compressed by raw
 * DEFLATE. A block with 0 unpacked bytes is a gap: one part, without a body.
 */
import {StoreError} from "../../storage/errors.ts";
import {STORE_SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {BodyReader, encodeNumber} from "../../storage/record/recordBody.ts";
import {mostPackedBytes} from "./blockChanges.ts";
import {FeedError, NoMessage} from "./feedError.ts";

export interface FeedChain {
  readonly suite: string;
  /** 0 <= chainId < 2^64; 0: the chain has no id. */
  readonly chainId: bigint;
}

interface Head {
  /** Of the service that sent it: PUBLISHER_BYTES. */
  readonly publisher: Uint8Array;
  readonly number: number;
  /** 32 bytes, as all hashes here. */
  readonly hash: Uint8Array;
}

export interface BlockHead extends Head {
  readonly kind: "block";
  /** If the header has none, the hash of the block before. Block 0 has zeros. */
  readonly parentHash: Uint8Array;
  readonly stateRoot: Uint8Array;
  /** Did a trusted root commit to the state after the block when the publisher made the message? */
  readonly isVerified: boolean;
  /** 0 <= part < parts. */
  readonly part: number;
  readonly parts: number;
  /** 0: a gap. */
  readonly unpackedBytes: number;
}

/** Blocks up to this one are finalized. */
export interface FinalityHead extends Head {
  readonly kind: "finality";
  /** The body has the finalizations of layer 1 from `first` to `count - 1`. */
  readonly first: number;
  readonly count: number;
}

/** A block without its changes, after which the stream continues. A replica needs a snapshot of it or a later one. */
export function isGap({unpackedBytes}: BlockHead): boolean {
  return unpackedBytes === 0;
}

export type FeedHead = BlockHead | FinalityHead;

export const PUBLISHER_BYTES = 16;
const MAGIC = Buffer.from("PFD");
const VERSION = 2;
const KINDS = ["block", "finality"] as const;
const HASH = 32;
/** NATS takes messages of 1 MB by default. */
const MAX_BODY_BYTES: number = 512 * 1024;
/** Left in a message for the head, NATS' own headers and the subject. */
const HEAD_BYTES = 2048;
/** With smaller bodies, the largest block would have more than 65 535 parts. */
const MIN_BODY_BYTES = 4096;

/** @param maxPayload - of the server, in bytes. @throws FeedError if it is too small */
export function bodyBytes(maxPayload: number): number {
  const left = maxPayload - HEAD_BYTES;
  if (left >= MIN_BODY_BYTES) return Math.min(left, MAX_BODY_BYTES);
  throw new FeedError(
    `the NATS server takes messages of ${maxPayload} bytes at most: a feed needs max_payload of ${MIN_BODY_BYTES + HEAD_BYTES} or more`,
  );
}

export function encodeHead({suite, chainId}: FeedChain, head: FeedHead): string {
  const start = Buffer.alloc(MAGIC.length + 3 + 8);
  start.set(MAGIC);
  start[3] = VERSION;
  start[4] = 1 + KINDS.indexOf(head.kind);
  start[5] = suiteNumber(suite);
  start.writeBigUInt64BE(chainId, 6);
  const fields = [start, head.publisher, encodeNumber(head.number), head.hash];
  if (head.kind === "finality") fields.push(encodeNumber(head.first), encodeNumber(head.count));
  else {
    fields.push(head.parentHash, head.stateRoot, Buffer.of(head.isVerified ? 1 : 0));
    fields.push(encodeNumber(head.part, 2), encodeNumber(head.parts, 2), encodeNumber(head.unpackedBytes, 4));
  }
  return Buffer.concat(fields).toString("base64");
}

/** @throws NoMessage, also for undefined; FeedError for another chain, suite or version */
export function decodeHead(chain: FeedChain, text: string | undefined): FeedHead {
  const reader = new BodyReader("the message", Buffer.from(text ?? "", "base64"));
  try {
    if (Buffer.compare(reader.bytes(MAGIC.length), MAGIC) !== 0)
      throw reader.damage("it is not a message of a feed of proofd");
    const version = reader.number(1);
    if (version !== VERSION)
      throw new FeedError(
        `the message: expected version ${VERSION}, got version ${version}: ${version < VERSION ? "an older proofd wrote it. Publish to a new stream" : "use a newer proofd"}`,
      );
    const kind = KINDS[reader.number(1) - 1];
    const suite = reader.number(1);
    if (suite !== suiteNumber(chain.suite))
      throw new FeedError(
        `the message: expected suite ${chain.suite}, got ${STORE_SUITE_NAMES[suite - 1] ?? suite}`,
      );
    const chainId = reader.bigint(8);
    if (chainId !== chain.chainId)
      throw new FeedError(`the message: expected chain ${chain.chainId}, got chain ${chainId}`);
    const by = {publisher: reader.bytes(PUBLISHER_BYTES), number: reader.number(), hash: reader.bytes(HASH)};
    if (kind === "finality") return reader.end({kind, ...by, first: reader.number(), count: reader.number()});
    if (kind !== "block") throw reader.damage("its kind is unknown");
    const block = {
      kind,
      ...by,
      ...{parentHash: reader.bytes(HASH), stateRoot: reader.bytes(HASH), isVerified: reader.flag()},
      ...{part: reader.number(2), parts: reader.number(2), unpackedBytes: reader.number(4)},
    };
    if (block.part >= block.parts) throw reader.damage(`part ${block.part} of ${block.parts}`);
    mostPackedBytes(block.number, block.unpackedBytes);
    return reader.end(block);
  } catch (error) {
    if (error instanceof StoreError) throw new NoMessage(error.message);
    throw error;
  }
}

function suiteNumber(suite: string): number {
  return 1 + (STORE_SUITE_NAMES as readonly string[]).indexOf(suite);
}
