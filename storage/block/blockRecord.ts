/**
 * The record of a block: its header, and the root that leads to all its state. Writing this record commits the block.
 *
 *   hash 32 | stateRoot 32 | packed (packed.ts; its word is the state root):
 *   account tree root 49 | next page u48 | state trie | fields u16 | the fields present, in the order of FIELDS
 *
 * The state trie is drawn in blockTrie.ts. In a store without sparse trees, its root is `stateRoot`, and the account
 * tree root is all zeros. `fields` has one bit per field, lowest first. All pages of this block and of earlier blocks
 * have numbers below `next page`.
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {BodyReader, bigEndian, encodeNumber} from "../record/recordBody.ts";
import {decodeTreeRoot, encodeTreeRootInto, TREE_ROOT_BYTES, type TreeRoot} from "../tree/treeRoot.ts";
import type {BlockHeader} from "./blockDifference.ts";
import {type BlockTrie, encodeBlockTrie, readBlockTrie} from "./blockTrie.ts";
import {pack, unpack} from "./packed.ts";

const MAX_LONG_BYTES = 0xffff;
/** Enough for the longest genesis extraData in use (a proof-of-authority list of 3 000 signers). */
export const MAX_EXTRA_DATA_BYTES = MAX_LONG_BYTES;

export interface BlockRecord {
  readonly header: BlockHeader;
  /** 32 bytes: the top root of the account tree; without one, the root of the state trie. */
  readonly stateRoot: Uint8Array;
  readonly accounts: TreeRoot;
  /** The number of the first page that does not belong to this block or an earlier one. */
  readonly nextPage: number;
  /** undefined: it is not stored. */
  readonly trie: BlockTrie | undefined;
}

const BITS_BYTES = 2;

/** `long` bytes have their length u16 before them. */
const FIELDS: readonly (readonly [
  name: Exclude<keyof BlockHeader, "number" | "hash">,
  kind: "bytes" | "number" | "long",
  bytes: number,
])[] = [
  ["parentHash", "bytes", WORD_BYTES],
  ["timestamp", "number", 8],
  ["gasLimit", "number", 8],
  ["baseFeePerGas", "number", WORD_BYTES],
  ["miner", "bytes", 20],
  ["mixHash", "bytes", WORD_BYTES],
  ["extraData", "long", MAX_EXTRA_DATA_BYTES],
  ["difficulty", "number", WORD_BYTES], // 0 is left out
  ["stateRoot", "bytes", WORD_BYTES],
  ["gasUsed", "number", 8],
  ["blobGasUsed", "number", 8],
  ["excessBlobGas", "number", 8],
  ["rest", "long", MAX_LONG_BYTES],
];

export function encodeBlockRecord({header, stateRoot, accounts, nextPage, trie}: BlockRecord): Buffer {
  const root = Buffer.alloc(TREE_ROOT_BYTES);
  encodeTreeRootInto(root, 0, accounts);
  const parts = [root, encodeNumber(nextPage), encodeBlockTrie(trie), encodeFields(header)];
  return Buffer.concat([header.hash, stateRoot, pack(Buffer.concat(parts), stateRoot)]);
}

/** The header but for number and hash. @throws StoreError BLOCK_INVALID if a field is too long or too large */
export function encodeFields(header: BlockHeader): Buffer {
  const {number, hash} = header;
  requireLength(number, "hash", hash, WORD_BYTES);
  const parts: Uint8Array[] = [];
  let bits = 0;
  for (const [bit, [name, kind, bytes]] of FIELDS.entries()) {
    const value = header[name];
    if (value === undefined || (name === "difficulty" && value === 0n)) continue;
    bits |= 1 << bit;
    if (typeof value === "bigint") {
      parts.push(bigEndian(value, bytes));
      continue;
    }
    requireLength(number, name, value, bytes, kind === "long" ? 0 : bytes);
    if (kind === "long") parts.push(encodeNumber(value.length, 2));
    parts.push(value);
  }
  return Buffer.concat([encodeNumber(bits, BITS_BYTES), ...parts]);
}

/** The block's hash, a view of its record. */
export function hashOfBlockRecord(body: Buffer): Buffer {
  return body.subarray(0, WORD_BYTES);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeBlockRecord(number: number, body: Buffer): BlockRecord {
  const name = `record of block ${number}`;
  const packed = new BodyReader(name, body);
  const hash = packed.bytes(WORD_BYTES);
  const stateRoot = packed.bytes(WORD_BYTES);
  const reader = new BodyReader(name, unpack(packed, stateRoot));
  const accounts = decodeTreeRoot(reader.bytes(TREE_ROOT_BYTES), 0);
  const nextPage = reader.number();
  const trie = readBlockTrie(reader);
  const header = {number, hash, ...readFields(reader)};
  return reader.end({header, stateRoot, accounts, nextPage, trie});
}

/** What `encodeFields` wrote, without number and hash. @throws StoreError RECORD_DAMAGED */
export function readFields(reader: BodyReader): Omit<BlockHeader, "number" | "hash"> {
  const bits = reader.number(BITS_BYTES);
  if (bits >> FIELDS.length !== 0) throw reader.damage(`unknown header fields: ${bits.toString(2)}`);
  const fields: Partial<Record<keyof BlockHeader, bigint | Buffer>> = {};
  for (const [bit, [name, kind, bytes]] of FIELDS.entries())
    if (bits & (1 << bit))
      fields[name] =
        kind === "number" ? reader.bigint(bytes) : reader.bytes(kind === "long" ? reader.number(2) : bytes);
  return fields as Omit<BlockHeader, "number" | "hash">;
}

function requireLength(block: number, name: string, {length}: Uint8Array, most: number, least = most): void {
  if (length >= least && length <= most) return;
  const rule = least === most ? `${most}` : `at most ${most}`;
  throw new StoreError("BLOCK_INVALID", `block ${block}: ${name}: expected ${rule} bytes, got ${length}`);
}
